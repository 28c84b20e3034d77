// 账本: a ledger in TypeScript.
import type { Currency } from "./currency";
import { Injectable, Input } from "framework";

/** One posting. */
export interface Entry {
  readonly account: string;
  cents: number;
  note?: "naïve" | "现金";
}

export type Amount = number | { cents: number };
type Names = {
  [key: string]: string;
};

export enum Kind {
  Debit = "借",
  Credit = "贷",
}

export function format(amount: number): string;
export function format(amount: string): string;
export function format(amount: unknown): string {
  return String(amount);
}

declare module "legacy" {
  export function post(entry: unknown): void;
}

namespace Books {
  export const year = 2024;

  // Years are whole.
  export function next(from: number = year): number {
    return from + 1;
  }
}

@Injectable()
// Between a decorator and its class.
export class Ledger<T extends Entry> {
  @Input() title = "账本";
  private entries: T[] = [];

  constructor(private readonly currency: Currency) {}

  @Input()
  get 余额(): number {
    return this.entries.reduce((sum, entry) => sum + entry.cents, 0);
  }

  // Posting is the only way in.
  async post(entry: T): Promise<void> {
    if (!entry.cents) throw new Error(`空的分录 ${entry.account}`);
    this.entries.push(entry);
  }

  onClose = async (): Promise<void> => {
    await Promise.resolve();
  };
}

export abstract class Closed {
  abstract reason(): string;

  when(): Date {
    return new Date(0);
  }
}

export const useLedger = function <T extends Entry>(name: string) {
  const ledger = cache[name] as Ledger<T>;

  const reset = () => {
    delete cache[name];
  };
  return { ledger, reset };
};
