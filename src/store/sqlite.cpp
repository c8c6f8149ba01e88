#include "store/schema.hpp"

#include "core/input_file.hpp"
#include "core/new_file.hpp"
#include "core/shared_object.hpp"

#include <chrono>
#include <fmt/format.h>
#include <sqlite3.h>
#include <thread>
#include <unistd.h>

namespace archsim {

namespace {

constexpr std::chrono::milliseconds kPatience{30'000}; ///< while others write
constexpr int kCalls = 50; ///< of the progress handler without a row: about a second

/// The functions that a file of results is read and written with.
struct LibSqlite {
    SharedObject library{"libsqlite3.so.0", "libsqlite3-0", "a file of results"};
#define ARCHSIM_SQLITE_FUNCTION(name)                                                                        \
    decltype(sqlite3_##name)* name = library.function<decltype(sqlite3_##name)>("sqlite3_" #name)
    ARCHSIM_SQLITE_FUNCTION(open_v2);
    ARCHSIM_SQLITE_FUNCTION(close);
    ARCHSIM_SQLITE_FUNCTION(busy_timeout);
    ARCHSIM_SQLITE_FUNCTION(db_config);
    ARCHSIM_SQLITE_FUNCTION(limit);
    ARCHSIM_SQLITE_FUNCTION(progress_handler);
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

namespace fs = std::filesystem;

/// A folder where nothing can be made, such as a read-only file system: SQLite could not make its shared
/// memory there. Nobody writes the file either, and what its journal holds has been written.
bool is_fixed(const fs::path& file) {
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    fs::path journal = file;
    journal += "-wal";
    std::error_code unknown;
    const bool rest = fs::exists(journal, unknown) && fs::file_size(journal, unknown) > 0;
    return access(folder.c_str(), W_OK) != 0 && !rest;
}

/// "file:/a%20b/results.db?immutable=1".
std::string fixed_uri(const fs::path& file) {
    std::string uri = "file:";
    for (const char c : fs::absolute(file).string()) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                           c == '/' || c == '.' || c == '-' || c == '_';
        uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return uri + "?immutable=1";
}

/// The files that SQLite opens beside one: it would wait for a pipe, and follow a link anywhere.
void expect_plain_journals(const fs::path& file) {
    for (const char* ending : {"-journal", "-wal", "-shm"}) {
        fs::path beside = file;
        beside += ending;
        std::error_code unknown;
        const fs::file_status status = fs::symlink_status(beside, unknown);
        if (fs::exists(status) && !fs::is_regular_file(status))
            throw InputError(
                fmt::format("{}: is no regular file, as SQLite makes it; remove it", beside.string()));
    }
}

} // namespace

SqlFile::SqlFile(const fs::path& file, SqlAccess access) : name_(file.string()) {
    open(access);
    sqlite().busy_timeout(handle_, static_cast<int>(kPatience.count()));
    distrust();
}

void SqlFile::open(SqlAccess access) {
    if (access == SqlAccess::write)
        expect_new_files();
    expect_readable(name_);
    expect_plain_journals(name_);
    // Who reads removes what the journal left beside the file, if it may; SQLite opens a file that cannot be
    // written for reading alone.
    const bool fixed = access == SqlAccess::read && is_fixed(name_);
    const int flags = fixed                        ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
                      : access == SqlAccess::write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                                   : SQLITE_OPEN_READWRITE;
    // A name that begins with a slash is that of a file: neither a URI nor ":memory:".
    const std::string path = fixed ? fixed_uri(name_) : fs::absolute(name_).string();
    if (sqlite().open_v2(path.c_str(), &handle_, flags, nullptr) == SQLITE_OK)
        return;
    const std::string said = handle_ != nullptr ? sqlite().errmsg(handle_) : "out of memory";
    sqlite().close(std::exchange(handle_, nullptr));
    throw InputError(fmt::format("{}: cannot be opened ({})", name_, said));
}

void SqlFile::distrust() {
    constexpr int kOff = 0, kOn = 1;
    sqlite().db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, kOn, nullptr);
    sqlite().db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, kOff, nullptr);
    sqlite().db_config(handle_, SQLITE_DBCONFIG_ENABLE_TRIGGER, kOff, nullptr);
    constexpr int kLongest = 4 << 20; // a text: the longest is a command line
    sqlite().limit(handle_, SQLITE_LIMIT_LENGTH, kLongest);
    sqlite().limit(handle_, SQLITE_LIMIT_ATTACHED, 0);
    constexpr int kInstructions = 1'000'000; // of SQLite's machine, some milliseconds
    sqlite().progress_handler(
        handle_, kInstructions, [](void* patience) { return --*static_cast<int*>(patience) < 0 ? 1 : 0; },
        &patience_);
}

SqlFile::~SqlFile() {
    sqlite().close(handle_);
}

void SqlFile::allow_several_writers() {
    using Clock = std::chrono::steady_clock;
    patience_ = kCalls;
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
    patience_ = kCalls;
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
    file_.patience_ = kCalls;
    column_ = 0;
    const int code = sqlite().step(statement_);
    if (code == SQLITE_INTERRUPT)
        throw InputError(fmt::format("{}: takes too long to read; it is larger or other than any file of "
                                     "results",
                                     file_.name_));
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
