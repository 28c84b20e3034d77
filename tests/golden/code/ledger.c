/* 账本: a ledger in C. */
#ifndef LEDGER_C
#define LEDGER_C

#include <stdio.h>
#include "entry.h"

#define LOW 1
#define HIGH(x) ((x) * 100)
#define CHECK(entry)             \
    do {                         \
        if (!(entry)->cents)     \
            return -1;           \
    } while (0)

/* One posting. */
struct entry {
    const char *account;
    long cents; /* never zero */
};

typedef struct ledger {
    struct entry entries[16];
    size_t count;
} ledger_t;

typedef unsigned long cents_t;

enum kind {
    DEBIT,
    CREDIT,
};

static const char *labels[] = {
    "借",

    "贷",
};

int post(ledger_t *ledger, struct entry entry);
static long total(const ledger_t *ledger);

// Posting is the only way in.
int post(ledger_t *ledger, struct entry entry)
{
    CHECK(&entry);

    if (ledger->count >= 16) {
        fprintf(stderr, "账本已满 😀\n");
        return -1;
    }
    ledger->entries[ledger->count++] = entry;
    return 0;
}

#ifdef WITH_TOTAL
static long total(const ledger_t *ledger)
{
    long sum = 0;
    for (size_t i = 0; i < ledger->count; i++)
        sum += ledger->entries[i].cents;
    return sum;
}
#else
static long total(const ledger_t *ledger) { return 0; }
#endif

const char **names(int kind) {
    switch (kind) {
    case DEBIT:
        return labels;
    default:
        return 0;
    }
}

#endif /* LEDGER_C */
