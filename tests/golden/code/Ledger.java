/* 账本: a ledger in Java. */
package org.example.ledger;

import java.util.ArrayList;
import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * All entries of a year.
 */
@SuppressWarnings({
    "unused",
    "checkstyle"
})
public final class Ledger<T extends Ledger.Entry> implements AutoCloseable {
    private static final String DEFAULT = "现金";

    private final List<T> entries = new ArrayList<>();
    private int 年 = 2024;

    static {
        System.setProperty("账本", DEFAULT);
    }

    /** One posting. */
    public record Entry(String account, long cents) {
        public Entry {
            requireNonNull(account);
        }

        boolean isEmpty() { return cents == 0; }
    }

    enum Kind {
        DEBIT("借"),
        CREDIT("贷");

        private final String label;

        Kind(String label) {
            this.label = label;
        }
    }

    interface Poster<E> {
        void post(E entry);

        default void postAll(List<E> all) {
            all.forEach(this::post);
        }
    }

    public Ledger(List<T> entries) {
        this.entries.addAll(entries);
    }

    // Posting is the only way in.
    @Deprecated
    public void post(T entry) throws IllegalArgumentException {
        if (entry.isEmpty()) {
            throw new IllegalArgumentException("空的分录 😀");
        }
        Runnable check = new Runnable() {
            @Override
            public void run() {
                entries.add(entry);
            }
        };

        check.run();
    }

    @Override
    public void close() {
        String text = """
            closed

            until further notice
            """;
        System.out.println(text);
    }
}

@interface Audited {
    String by() default "naïve";
}
