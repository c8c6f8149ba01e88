#pragma once
// JSON as the database writes it, token by token: ASCII text, strings without \u escapes, keys without any.
// Every function reads at the present place, and returns false where the text is anything else, right or
// wrong: then the caller parses with nlohmann, which also words the error.

#include "hardware/json_reader.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>

namespace archsim {

class PlainJson {
  public:
    explicit PlainJson(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

    bool at_end() const { return at_ == end_; }
    /// The next character; the text must not be at its end.
    char peek() const { return *at_; }
    void skip_blanks() {
        while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r'))
            ++at_;
    }
    bool take(char expected) {
        if (at_ == end_ || *at_ != expected)
            return false;
        ++at_;
        return true;
    }
    bool take_word(std::string_view word);
    /// A string without escapes, as a view into the text. Where it has one, false with what stands before.
    bool string(std::string_view& out);
    /// Adds what is left of a string that was begun, with its escapes taken out.
    bool rest_of_string(std::string& out);
    /// Any value, whose parts nobody wants: of objects and arrays it looks for the end alone, so that who
    /// reads them later finds what is wrong inside.
    bool pass();
    /// What was read since `begin`, an earlier place.
    std::string_view since(const char* begin) const { return {begin, static_cast<std::size_t>(at_ - begin)}; }
    const char* place() const { return at_; }
    /// The characters of a number; `whole` where it has neither fraction nor exponent.
    bool number(std::string_view& out, bool& whole);

    /// {"key": value, ...}: calls `bool read(std::string_view key)` at each value.
    template <class Read>
    bool members(Read read) {
        return list('{', '}', [&] {
            std::string_view key;
            if (!string(key))
                return false;
            skip_blanks();
            if (!take(':'))
                return false;
            skip_blanks();
            return read(key);
        });
    }
    /// [value, ...]: calls `bool read()` at each value.
    template <class Read>
    bool items(Read read) {
        return list('[', ']', read);
    }

  private:
    /// To the next character that a string cannot hold as it is.
    void pass_plain();
    bool pass_string();
    /// An object or array.
    bool pass_list();
    template <class Read>
    bool list(char open, char close, Read read) {
        if (!take(open))
            return false;
        skip_blanks();
        if (take(close))
            return true;
        do {
            skip_blanks();
            if (!read())
                return false;
            skip_blanks();
        } while (take(','));
        return take(close);
    }

    const char* at_;
    const char* end_;
};

/// An object of texts and numbers, {"family": "gpu", "rows": 12}, as views into its text. Has what
/// ObjectReader has for such members, without its words: what it finds wrong makes it unsound, and the file
/// is read with an ObjectReader instead.
class FlatObject {
  public:
    explicit FlatObject(PlainJson& text);

    /// Empty where there is no such member.
    std::string_view text(std::string_view key, Need need = Need::optional);
    double number(std::string_view key, Bounds bounds, Need need = Need::optional);
    void refuse() { sound_ = false; }
    /// Whether nothing was wrong until now.
    bool sound_so_far() const { return sound_; }
    /// Whether the object was plain, and every member was asked for, once, and is what it was asked for (a
    /// second one of the same key was not).
    bool sound() const { return sound_ && asked_ == count_; }

  private:
    struct Member {
        std::string_view key, value;
        bool is_text = false;
    };
    const Member* find(std::string_view key, Need need);

    std::array<Member, 16> members_;
    std::size_t count_ = 0, asked_ = 0;
    bool sound_ = true;
};

} // namespace archsim
