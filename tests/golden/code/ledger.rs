//! A ledger, 账本.
#![allow(dead_code)]

use std::collections::HashMap;
use std::fmt::{self, Display};

extern crate core;

/// What an account is called where none is given.
const DEFAULT: &str = "现金";

/// One posting.
#[derive(Debug, Clone)]
pub struct Entry {
    pub account: String,
    /// Never zero.
    pub cents: i64,
}

#[derive(Debug)]
pub enum LedgerError {
    Empty,
    Closed { year: u16 },
}

pub struct Marker;

macro_rules! entry {
    ($account:expr, $cents:expr) => {
        Entry { account: $account.into(), cents: $cents }
    };
}

pub trait Post {
    const YEAR: u16 = 2024;

    fn post(&mut self, entry: Entry) -> Result<(), LedgerError>;

    /// Posts in order.
    fn post_all(&mut self, entries: Vec<Entry>) -> Result<(), LedgerError> {
        entries.into_iter().try_for_each(|entry| self.post(entry))
    }
}

#[derive(Default)]
pub struct Ledger<'a> {
    entries: Vec<Entry>,
    names: HashMap<&'a str, usize>,
}

impl<'a> Post for Ledger<'a> {
    // Posting is the only way in.
    #[inline]
    fn post(&mut self, entry: Entry) -> Result<(), LedgerError> {
        fn check(entry: &Entry) -> bool {
            entry.cents != 0
        }

        if !check(&entry) {
            return Err(LedgerError::Empty);
        }
        self.entries.push(entry);
        Ok(())
    }
}

impl Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cents {
            0 => write!(f, "空的分录"),
            cents => write!(f, r#"{} "{}" 😀"#, self.account, cents),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] fn 余额() {
        let ledger = Ledger::default();
        assert!(ledger.entries.is_empty());
    }
}
mod other;
