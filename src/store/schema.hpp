#pragma once
// SQLite behind two classes, a file and a statement on it, and the tables of a file of results. Every failure
// is an InputError that names the file.

#include "archsim/compare/metric.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace archsim {

enum class SqlAccess : std::uint8_t { read, write };

/// An open file; `write` makes it where there is none. Whoever made it is not trusted: what its schema calls
/// are functions without side effects, it cannot be changed behind SQLite's back, and a step that gives no
/// row for long is ended.
class SqlFile {
  public:
    SqlFile(const std::filesystem::path& file, SqlAccess access);
    ~SqlFile();
    SqlFile(const SqlFile&) = delete;
    SqlFile& operator=(const SqlFile&) = delete;

    const std::string& name() const { return name_; }
    /// Lets several processes write (WAL); one at a time can turn a new file to it. Writes to the file.
    void allow_several_writers();
    /// Statements without values.
    void run(const std::string& statements);
    /// A whole number that a pragma or a query gives.
    std::int64_t number(const std::string& query);
    std::int64_t last_row() const;
    /// Throws what SQLite says of the last call, `attempt` before it.
    [[noreturn]] void fail(std::string_view attempt) const;

  private:
    friend class SqlStatement;
    void open(SqlAccess access);
    void distrust();

    std::string name_;
    sqlite3* handle_ = nullptr;
    int patience_ = 0; ///< how often the progress handler may be called before the next row
};

/// All of a sequence or none: rolled back unless it is committed.
class SqlTransaction {
  public:
    explicit SqlTransaction(SqlFile& file);
    ~SqlTransaction();
    SqlTransaction(const SqlTransaction&) = delete;
    SqlTransaction& operator=(const SqlTransaction&) = delete;

    void commit();

  private:
    SqlFile& file_;
    bool open_ = true;
};

/// A prepared statement: bind its values in order, step through its rows, read their columns in order.
class SqlStatement {
  public:
    SqlStatement(SqlFile& file, const std::string& text);
    ~SqlStatement();
    SqlStatement(const SqlStatement&) = delete;
    SqlStatement& operator=(const SqlStatement&) = delete;

    SqlStatement& bind(std::string_view text);
    SqlStatement& bind(std::int64_t value);
    SqlStatement& bind(double value); ///< one that is no number is bound as none
    bool step();
    /// Runs a statement that gives no row, or skips those it gives; values can be bound anew.
    void finish();

    std::string text();
    std::int64_t number();
    double real();
    /// True where the next column has no value.
    bool next_is_null() const;

  private:
    void check(int code);

    SqlFile& file_;
    sqlite3_stmt* statement_ = nullptr;
    int bound_ = 0, column_ = 0;
};

/// Makes the tables of a new file, or brings those of an older version up to date, and the view `rows` over
/// the metrics that a view shows. Inside of a transaction. Throws InputError for a file that holds something
/// else.
void prepare_results_file(SqlFile& file, const MetricTable& metrics);
/// The layout of its tables. Throws InputError for a file that was not made by prepare_results_file, or by a
/// newer one.
std::int64_t expect_results_file(SqlFile& file, const std::string& name);
/// Throws InputError where the file is damaged: a page that stands in several places would be read as often.
void expect_sound_pages(SqlFile& file);
/// The expression that gives CellKey::question in a query over `conditions` and `runs`.
std::string question_of_row(std::int64_t layout);

} // namespace archsim
