// Package ledger keeps accounts, 账本.
package ledger

import (
	"errors"
	"fmt"
)

import 工具 "example.org/tools"

// ErrEmpty is returned for an empty entry.
var ErrEmpty = errors.New("空的分录")

const (
	low  = 1
	high = 2

	// 默认账户 is used where none is given.
	默认账户 = "现金"
)

// Entry is one posting.
type Entry struct {
	Account string `json:"account"`
	Cents   int64  // never zero
}

type (
	// Amount is in cents.
	Amount int64
	Poster interface {
		Post(entry Entry) error
	}
)

// Ledger holds entries in order.
type Ledger[T any] struct {
	entries []Entry
	extra   map[string]T
}

/*
New makes a ledger.
*/
func New[T any]() *Ledger[T] {
	return &Ledger[T]{extra: map[string]T{}}
}

// Post is the only way in.
func (l *Ledger[T]) Post(entry Entry) error {
	if entry.Cents == 0 {
		return fmt.Errorf("%w: %q", ErrEmpty, entry.Account)
	}

	defer func() {
		recover()
	}()
	l.entries = append(l.entries, entry)
	return nil
}

func (l Ledger[T]) 余额() (sum int64) {
	for _, entry := range l.entries {
		sum += entry.Cents
	}
	return
}

func (Entry) String() string { return `raw
string {` }
func describe(kind any) string {
	switch kind := kind.(type) {
	case nil:
		return "–"

	case error:
		return kind.Error() + "😀"
	default:
		return 工具.Name(kind)
	}
}
