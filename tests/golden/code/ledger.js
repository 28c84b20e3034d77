#!/usr/bin/env node
"use strict";
/**
 * 账本: a ledger in JavaScript.
 */
import fs from "node:fs";
import { join,
  resolve } from "node:path";

import * as 工具 from "./工具.js";

const LIMITS = {
  low: 1,

  high: [2, 3],
};

// Sums whole cents.
export const total = (...cents) => {
  return cents.reduce((a, b) => a + b, 0);
};

export default async function main(args) {
  const path = join(resolve("."), `账本-${args[0] ?? "现金"}.json`);

  function read(name) {
    return JSON.parse(fs.readFileSync(name, "utf8"));
  }

  // Nothing is written back.
  return read(path);
}

export class Ledger extends Base {
  #entries = [];
  static year = 2024;

  constructor(entries) {
    super();
    this.#entries = entries;
  }

  /** Posting is the only way in. */
  post(entry) {
    if (!entry.cents) {
      throw new Error(`空的分录 😀 ${entry}`);
    } else if (entry.cents < 0) {
      this.refund(entry);
    }
    this.#entries.push(entry);
  }

  get 余额() { return total(...this.#entries); }

  refund = (entry) => {
    this.#entries.pop(entry);
  };
}

function* walk(tree) {
  yield* tree;
} function sameLine() {
  return 1;
}

module.exports.format = function (cents) {
  switch (cents) {
    case 0:
      return "–";
    default:
      return /[\d/]+/u.test(cents) ? `${cents / 100} €` : "";
  }
};

describe("ledger", () => {
  it("posts", () => {
    expect(new Ledger([]).余额).toBe(0);
  });
});
