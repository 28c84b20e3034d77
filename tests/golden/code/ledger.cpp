// 账本: a ledger in C++.
#include <string>
#include <vector>

#include "entry.hpp"

using namespace std::literals;

namespace books::year {

inline constexpr auto kDefault = "现金"sv;

template <typename T>
concept Posting = requires(T entry) {
    { entry.cents } -> std::convertible_to<long>;
};

/// One posting.
struct Entry {
    std::string account{kDefault};
    long cents = 0;

    bool empty() const { return cents == 0; }
};

enum class Kind { Debit, Credit };

/**
 * All entries of a year.
 */
template <Posting T = Entry,
          int Size = 16>
class Ledger : public Base {
public:
    using value_type = T;

    explicit Ledger(std::vector<T> entries) : entries_(std::move(entries)) {}
    virtual ~Ledger() = default;

    // Posting is the only way in.
    [[nodiscard]] bool post(const T& entry) {
        if (entry.empty()) {
            throw std::invalid_argument("空的分录 😀");
        }

        auto add = [&](const T& one) {
            entries_.push_back(one);
        };
        add(entry);
        return true;
    }

    Ledger& operator+=(const T& entry);

protected:
    struct Closed {
        int year;
        const char* why() const {
            return R"(closed

            until further notice)";
        }
    };

private:
    std::vector<T> entries_;
};

}  // namespace books::year

namespace {
int counter = 0;

int next() { return ++counter; }
}

template <typename T>
T& books::year::Ledger<T>::operator+=(const T& entry) {
    post(entry);
    return *this;
}

int main(int argc, char** argv) {
    return next();
}
