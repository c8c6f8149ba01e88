#include "store/sqlite.hpp"

#include "archsim/core/finding.hpp"
#include "core/shared_object.hpp"

#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <sqlite3.h>
#include <thread>
#include <utility>

namespace archsim {

namespace {

constexpr std::chrono::milliseconds kPatience{30'000}; ///< while others write

/// The functions that a file of results is read and written with.
struct LibSqlite {
    SharedObject library{"libsqlite3.so.0", "libsqlite3-0", "a file of results"};
#define ARCHSIM_SQLITE_FUNCTION(name)                                                                        \
    decltype(sqlite3_##name)* name = library.function<decltype(sqlite3_##name)>("sqlite3_" #name)
    ARCHSIM_SQLITE_FUNCTION(open_v2);
    ARCHSIM_SQLITE_FUNCTION(close);
    ARCHSIM_SQLITE_FUNCTION(busy_timeout);
    ARCHSIM_SQLITE_FUNCTION(exec);
    ARCHSIM_SQLITE_FUNCTION(errmsg);
    ARCHSIM_SQLITE_FUNCTION(last_insert_rowid);
    ARCHSIM_SQLITE_FUNCTION(prepare_v2);
    ARCHSIM_SQLITE_FUNCTION(step);
    ARCHSIM_SQLITE_FUNCTION(reset);
    ARCHSIM_SQLITE_FUNCTION(finalize);
    ARCHSIM_SQLITE_FUNCTION(bind_text);
    ARCHSIM_SQLITE_FUNCTION(bind_int64);
    ARCHSIM_SQLITE_FUNCTION(bind_double);
    ARCHSIM_SQLITE_FUNCTION(bind_null);
    ARCHSIM_SQLITE_FUNCTION(column_text);
    ARCHSIM_SQLITE_FUNCTION(column_bytes);
    ARCHSIM_SQLITE_FUNCTION(column_int64);
    ARCHSIM_SQLITE_FUNCTION(column_double);
    ARCHSIM_SQLITE_FUNCTION(column_type);
#undef ARCHSIM_SQLITE_FUNCTION
};

const LibSqlite& sqlite() {
    static const LibSqlite functions;
    return functions;
}

} // namespace

SqlFile::SqlFile(const std::filesystem::path& file, SqlAccess access) : name_(file.string()) {
    // Who reads removes what the journal left beside the file, if it may; SQLite opens a file that cannot be
    // written for reading alone.
    const int flags =
        access == SqlAccess::write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READWRITE;
    if (sqlite().open_v2(name_.c_str(), &handle_, flags, nullptr) != SQLITE_OK) {
        const std::string said = handle_ != nullptr ? sqlite().errmsg(handle_) : "out of memory";
        sqlite().close(std::exchange(handle_, nullptr));
        throw InputError(fmt::format("{}: cannot be opened ({})", name_, said));
    }
    sqlite().busy_timeout(handle_, static_cast<int>(kPatience.count()));
    try {
        if (access == SqlAccess::write)
            allow_several_writers();
    } catch (...) {
        sqlite().close(handle_);
        throw;
    }
}

SqlFile::~SqlFile() {
    sqlite().close(handle_);
}

void SqlFile::allow_several_writers() {
    using Clock = std::chrono::steady_clock;
    for (const auto end = Clock::now() + kPatience;;) {
        // SQLite does not wait here by itself.
        const int code = sqlite().exec(handle_, "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
        if (code == SQLITE_OK)
            return;
        if ((code != SQLITE_BUSY && code != SQLITE_LOCKED) || Clock::now() > end)
            fail("cannot be opened for writing");
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

void SqlFile::fail(std::string_view attempt) const {
    throw InputError(fmt::format("{}: {} ({})", name_, attempt, sqlite().errmsg(handle_)));
}

void SqlFile::run(const std::string& statements) {
    if (sqlite().exec(handle_, statements.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
        fail("cannot be changed");
}

std::int64_t SqlFile::number(const std::string& query) {
    SqlStatement statement(*this, query);
    return statement.step() ? statement.number() : 0;
}

std::int64_t SqlFile::last_row() const {
    return sqlite().last_insert_rowid(handle_);
}

SqlTransaction::SqlTransaction(SqlFile& file) : file_(file) {
    file_.run("BEGIN IMMEDIATE");
}

SqlTransaction::~SqlTransaction() {
    if (!open_)
        return;
    try {
        file_.run("ROLLBACK");
    } catch (const InputError&) { // SQLite has rolled it back already; what failed has been thrown
        open_ = false;
    }
}

void SqlTransaction::commit() {
    file_.run("COMMIT");
    open_ = false;
}

SqlStatement::SqlStatement(SqlFile& file, const std::string& text) : file_(file) {
    if (sqlite().prepare_v2(file_.handle_, text.c_str(), -1, &statement_, nullptr) != SQLITE_OK)
        file_.fail("cannot be read as a file of results");
}

SqlStatement::~SqlStatement() {
    sqlite().finalize(statement_);
}

void SqlStatement::check(int code) {
    if (code != SQLITE_OK)
        file_.fail("cannot be changed");
}

SqlStatement& SqlStatement::bind(std::string_view text) {
    // A text without characters may have no address, which would mean NULL. SQLITE_TRANSIENT: SQLite copies
    // it.
    check(sqlite().bind_text(statement_, ++bound_, text.empty() ? "" : text.data(),
                             static_cast<int>(text.size()), reinterpret_cast<sqlite3_destructor_type>(-1)));
    return *this;
}

SqlStatement& SqlStatement::bind(std::int64_t value) {
    check(sqlite().bind_int64(statement_, ++bound_, value));
    return *this;
}

SqlStatement& SqlStatement::bind(double value) {
    check(std::isfinite(value) ? sqlite().bind_double(statement_, ++bound_, value)
                               : sqlite().bind_null(statement_, ++bound_));
    return *this;
}

bool SqlStatement::step() {
    column_ = 0;
    const int code = sqlite().step(statement_);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        file_.fail("cannot be read or changed");
    return code == SQLITE_ROW;
}

void SqlStatement::finish() {
    while (step()) {
    }
    check(sqlite().reset(statement_));
    bound_ = 0;
}

std::string SqlStatement::text() {
    const auto* const bytes = sqlite().column_text(statement_, column_);
    const auto size = static_cast<std::size_t>(sqlite().column_bytes(statement_, column_));
    ++column_;
    return bytes == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(bytes), size);
}

std::int64_t SqlStatement::number() {
    return sqlite().column_int64(statement_, column_++);
}

double SqlStatement::real() {
    return sqlite().column_double(statement_, column_++);
}

bool SqlStatement::next_is_null() const {
    return sqlite().column_type(statement_, column_) == SQLITE_NULL;
}

} // namespace archsim
