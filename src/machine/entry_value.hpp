#pragma once
// A value of an entry's file while it is put together: text, number, list, or members in the order in which
// they were added. Only what such entries need; files are read and laid out elsewhere.

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace archsim {

class EntryValue {
  public:
    using Member = std::pair<std::string, EntryValue>;

    /// No members yet.
    EntryValue() = default;
    EntryValue(double number);
    EntryValue(std::string_view text);
    EntryValue(const char* text) : EntryValue(std::string_view(text)) {}
    EntryValue(const std::string& text) : EntryValue(std::string_view(text)) {}
    static EntryValue object(std::initializer_list<std::pair<std::string_view, EntryValue>> members);
    static EntryValue list();
    static EntryValue flag(bool value);

    /// The member of that name, added where there is none.
    EntryValue& operator[](std::string_view key);
    void push_back(EntryValue item);
    const std::vector<Member>& members() const { return members_; }
    double number() const { return number_; }

    /// As JSON on one line. Bytes that JSON does not carry as they are become question marks: names come from
    /// hardware and files that may hold anything.
    std::string json() const;

  private:
    enum class Kind : unsigned char { members, list, scalar };

    Kind kind_ = Kind::members;
    double number_ = 0;
    std::string scalar_; ///< as JSON
    std::vector<Member> members_;
    std::vector<EntryValue> items_;
};

} // namespace archsim
