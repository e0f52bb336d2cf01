#include "weir/config/config.h"

#include <functional>
#include <map>
#include <random>
#include <set>

#include "weir/base/edit_distance.h"
#include "weir/config/keys_internal.h"
#include "weir/config/tree_internal.h"

namespace weir::config {
namespace {

std::optional<std::string> TestEnv(const std::string& name) {
  static const std::map<std::string, std::string> kVariables = {
      {"ROWS", "777"}, {"NAME", "from_env"}, {"EMPTY", ""}, {"YES", "true"}, {"Q", "quo'ted: [x]"}};
  const auto found = kVariables.find(name);
  if (found == kVariables.end()) return std::nullopt;
  return found->second;
}

Result<Config> Load(const std::string& text) { return LoadConfig(text, "weir.yaml", TestEnv); }

std::string ErrorOf(const std::string& text) {
  const auto loaded = Load(text);
  if (loaded.ok()) return "it loaded";
  EXPECT_EQ(loaded.error().code, Code::kUsage);
  return loaded.error().message;
}

// The body of each block; `Text` puts them together.
struct Document {
  std::string root;
  std::string source = "type: postgres, host: /tmp";
  std::string tls;
  std::string source_tuning;
  std::string one = "name: a, table: t, format: parquet";
  std::string parquet;
  std::string destination = "type: local, path: out";
  std::string tuning;

  std::string Text() const {
    std::string text = root.empty() ? "" : root + "\n";
    text += "source: {" + source;
    if (!tls.empty()) text += ", tls: {" + tls + "}";
    if (!source_tuning.empty()) text += ", tuning: {" + source_tuning + "}";
    text += "}\nexports: [{" + one;
    if (!parquet.empty()) text += ", parquet: {" + parquet + "}";
    if (!destination.empty()) text += ", destination: {" + destination + "}";
    if (!tuning.empty()) text += ", tuning: {" + tuning + "}";
    return text + "}]\n";
  }
};

// One accepted setting of a key: where it stands, and what must come of it.
struct Accepted {
  const BlockKind* kind;
  std::string key;
  std::function<void(Document&)> write;
  std::function<bool(const Config&)> holds;
};

using D = Document;
using C = Config;

const std::vector<Accepted> kAccepted = {
    {&kRootBlock, "source", [](D&) {}, [](const C& c) { return c.source.host == "/tmp"; }},
    {&kRootBlock, "exports", [](D&) {}, [](const C& c) { return c.exports.size() == 1; }},
    {&kSourceBlock, "type", [](D&) {}, [](const C&) { return true; }},
    {&kSourceBlock, "url", [](D& d) { d.source = "type: postgres, url: 'postgresql:///x'"; },
     [](const C& c) { return c.source.url.Reveal() == "postgresql:///x"; }},
    {&kSourceBlock, "url_env", [](D& d) { d.source = "type: postgres, url_env: U"; },
     [](const C& c) { return c.source.url_env == "U"; }},
    {&kSourceBlock, "url_file", [](D& d) { d.source = "type: postgres, url_file: u.txt"; },
     [](const C& c) { return c.source.url_file == "u.txt"; }},
    {&kSourceBlock, "host", [](D& d) { d.source = "type: postgres, host: db.example"; },
     [](const C& c) { return c.source.host == "db.example" && c.source.port == 5432; }},
    {&kSourceBlock, "port", [](D& d) { d.source += ", port: 6432"; },
     [](const C& c) { return c.source.port == 6432; }},
    {&kSourceBlock, "user", [](D& d) { d.source += ", user: 007"; },
     [](const C& c) { return c.source.user == "007"; }},
    {&kSourceBlock, "database", [](D& d) { d.source += ", database: shop"; },
     [](const C& c) { return c.source.database == "shop"; }},
    {&kSourceBlock, "password", [](D& d) { d.source += ", password: \"p'\\\\ w\\u00e9\""; },
     [](const C& c) { return c.source.password.Reveal() == "p'\\ w\xc3\xa9"; }},
    {&kSourceBlock, "password_env", [](D& d) { d.source += ", password_env: PW"; },
     [](const C& c) { return c.source.password_env == "PW"; }},
    {&kSourceBlock, "environment", [](D& d) { d.source += ", environment: local"; },
     [](const C& c) {
       return c.source.environment == "local" && c.exports[0].tuning.profile == Profile::kFast;
     }},
    {&kSourceBlock, "tuning", [](D& d) { d.source_tuning = "batch_size: 5"; },
     [](const C& c) { return c.exports[0].tuning.batch_size == 5; }},
    {&kSourceBlock, "tls", [](D& d) { d.tls = "ca_file: ca.pem"; },
     [](const C& c) { return c.source.tls->mode == TlsMode::kVerifyFull; }},
    {&kTlsBlock, "mode", [](D& d) { d.tls = "mode: verify-ca"; },
     [](const C& c) { return c.source.tls == TlsConfig{TlsMode::kVerifyCa, ""}; }},
    {&kTlsBlock, "ca_file", [](D& d) { d.tls = "mode: require, ca_file: ca.pem"; },
     [](const C& c) { return c.source.tls == TlsConfig{TlsMode::kRequire, "ca.pem"}; }},
    {&kExportBlock, "name", [](D& d) { d.one = "name: A-1_b.c, table: t, format: csv"; },
     [](const C& c) { return c.exports[0].name == "A-1_b.c"; }},
    {&kExportBlock, "table", [](D& d) { d.one = "name: a, table: Shop.Items, format: csv"; },
     [](const C& c) { return c.exports[0].table == pg::TableName{"shop", "items"}; }},
    {&kExportBlock, "query", [](D& d) { d.one = "name: a, query: 'SELECT 1; ', format: csv"; },
     [](const C& c) { return c.exports[0].query == "SELECT 1" && !c.exports[0].table; }},
    {&kExportBlock, "query_file",
     [](D& d) { d.one = "name: a, query_file: q/a.sql, format: csv"; },
     [](const C& c) { return c.exports[0].query_file == "q/a.sql"; }},
    {&kExportBlock, "mode", [](D& d) { d.one += ", mode: full"; }, [](const C&) { return true; }},
    {&kExportBlock, "read", [](D& d) { d.one += ", read: copy"; }, [](const C&) { return true; }},
    {&kExportBlock, "parallel", [](D& d) { d.one += ", parallel: 1"; },
     [](const C&) { return true; }},
    {&kExportBlock, "format", [](D& d) { d.one = "name: a, table: t, format: csv"; },
     [](const C& c) {
       return c.exports[0].format == Format::kCsv &&
              c.exports[0].compression == Compression::kNone;
     }},
    {&kExportBlock, "compression", [](D& d) { d.one += ", compression: snappy"; },
     [](const C& c) { return c.exports[0].compression == Compression::kSnappy; }},
    {&kExportBlock, "compression_level",
     [](D& d) { d.one += ", compression: gzip, compression_level: 0"; },
     [](const C& c) {
       return c.exports[0].compression == Compression::kGzip &&
              c.exports[0].compression_level == 0;
     }},
    {&kExportBlock, "compression_profile",
     [](D& d) { d.one += ", compression: lz4, compression_profile: compact"; },
     [](const C& c) {
       return c.exports[0].compression == Compression::kZstd &&
              c.exports[0].compression_level == 9;
     }},
    {&kExportBlock, "max_file_size", [](D& d) { d.one += ", max_file_size: 64MB"; },
     [](const C& c) { return c.exports[0].max_file_bytes == 64 << 20; }},
    {&kExportBlock, "skip_empty", [](D& d) { d.one += ", skip_empty: true"; },
     [](const C& c) { return c.exports[0].skip_empty; }},
    {&kExportBlock, "parquet", [](D& d) { d.one += ", parquet: {}"; },
     [](const C& c) { return c.exports[0].row_groups == RowGroups{}; }},
    {&kParquetBlock, "row_group_strategy", [](D& d) { d.parquet = "row_group_strategy: auto"; },
     [](const C& c) { return c.exports[0].row_groups == RowGroups{}; }},
    {&kParquetBlock, "row_group_rows",
     [](D& d) { d.parquet = "row_group_strategy: fixed_rows, row_group_rows: '${ROWS}'"; },
     [](const C& c) { return c.exports[0].row_groups.rows == 777; }},
    {&kParquetBlock, "target_row_group_mb", [](D& d) { d.parquet = "target_row_group_mb: 64"; },
     [](const C& c) { return c.exports[0].row_groups.raw_bytes == 64 << 20; }},
    {&kParquetBlock, "max_row_group_mb", [](D& d) { d.parquet = "max_row_group_mb: 8"; },
     [](const C& c) { return c.exports[0].row_groups.raw_bytes == 8 << 20; }},
    {&kExportBlock, "destination", [](D&) {}, [](const C&) { return true; }},
    {&kExportBlock, "tuning", [](D& d) { d.tuning = "throttle_ms: 0"; },
     [](const C& c) {
       return c.exports[0].tuning.throttle_ms == 0;
     }},
    {&kDestinationBlock, "type", [](D&) {}, [](const C&) { return true; }},
    {&kDestinationBlock, "path", [](D& d) { d.destination = "type: local, path: '/o/{date}'"; },
     [](const C& c) { return c.exports[0].destination_path == "/o/{date}"; }},
    {&kTuningBlock, "profile", [](D& d) { d.tuning = "profile: safe"; },
     [](const C& c) { return c.exports[0].tuning == ProfileDefaults(Profile::kSafe); }},
    {&kTuningBlock, "batch_size", [](D& d) { d.tuning = "batch_size: '${ROWS}'"; },
     [](const C& c) {
       return c.exports[0].tuning.batch_size == 777 &&
              !c.exports[0].tuning.batch_size_memory_mb.has_value();
     }},
    {&kTuningBlock, "batch_size_memory_mb", [](D& d) { d.tuning = "batch_size_memory_mb: 8"; },
     [](const C& c) { return c.exports[0].tuning.batch_size_memory_mb == 8; }},
    {&kTuningBlock, "throttle_ms", [](D& d) { d.source_tuning = "throttle_ms: 50"; },
     [](const C& c) {
       return c.exports[0].tuning.throttle_ms == 50;
     }},
    {&kTuningBlock, "statement_timeout_s", [](D& d) { d.tuning = "statement_timeout_s: 9"; },
     [](const C& c) { return c.exports[0].tuning.statement_timeout_s == 9; }},
    {&kTuningBlock, "lock_timeout_s", [](D& d) { d.tuning = "lock_timeout_s: 9"; },
     [](const C& c) { return c.exports[0].tuning.lock_timeout_s == 9; }},
    {&kTuningBlock, "max_retries", [](D& d) { d.tuning = "max_retries: 0"; },
     [](const C& c) { return c.exports[0].tuning.max_retries == 0; }},
    {&kTuningBlock, "retry_backoff_ms", [](D& d) { d.tuning = "retry_backoff_ms: 9"; },
     [](const C& c) { return c.exports[0].tuning.retry_backoff_ms == 9; }},
    {&kTuningBlock, "memory_threshold_mb", [](D& d) { d.tuning = "memory_threshold_mb: 9"; },
     [](const C& c) { return c.exports[0].tuning.memory_threshold_mb == 9; }},
    {&kTuningBlock, "max_value_mb", [](D& d) { d.tuning = "max_value_mb: 9"; },
     [](const C& c) { return c.exports[0].tuning.max_value_mb == 9; }},
    {&kTuningBlock, "max_batch_memory_mb", [](D& d) { d.tuning = "max_batch_memory_mb: 9"; },
     [](const C& c) { return c.exports[0].tuning.max_batch_memory_mb == 9; }},
    {&kTuningBlock, "on_batch_memory_exceeded",
     [](D& d) { d.tuning = "on_batch_memory_exceeded: auto_shrink"; },
     [](const C& c) {
       return c.exports[0].tuning.on_batch_memory_exceeded == OnBatchMemoryExceeded::kAutoShrink;
     }},
    {&kTuningBlock, "min_parallel", [](D& d) { d.tuning = "min_parallel: 1"; },
     [](const C&) { return true; }},
};

// Puts `setting` into the block of `kind`; `where` becomes the block's path in messages.
std::string With(const BlockKind& kind, const std::string& setting, std::string* where = nullptr) {
  Document document;
  std::string path;
  if (&kind == &kRootBlock) document.root = setting;
  if (&kind == &kSourceBlock) document.source += ", " + setting, path = "source";
  if (&kind == &kTlsBlock) document.tls = setting, path = "source.tls";
  if (&kind == &kExportBlock) document.one += ", " + setting, path = "exports[0]";
  if (&kind == &kParquetBlock) document.parquet = setting, path = "exports[0].parquet";
  if (&kind == &kDestinationBlock) {
    document.destination += ", " + setting, path = "exports[0].destination";
  }
  if (&kind == &kTuningBlock) document.tuning = setting, path = "exports[0].tuning";
  if (where != nullptr) *where = path;
  return document.Text();
}

TEST(Config, EveryKeyOfThisVersionIsReadAndObeyed) {
  std::set<std::pair<std::string_view, std::string>> tried;
  for (const Accepted& setting : kAccepted) {
    Document document;
    setting.write(document);
    const auto loaded = Load(document.Text());
    ASSERT_TRUE(loaded.ok()) << setting.key << ": " << loaded.error().message;
    EXPECT_TRUE(setting.holds(loaded.value())) << setting.key;
    tried.emplace(setting.kind->name, setting.key);
  }
  for (const BlockKind* kind : BlockKinds()) {
    for (const Key& key : kind->keys) {
      if (key.support != Support::kNow) continue;
      EXPECT_TRUE(tried.contains({kind->name, std::string(key.name)}))
          << kind->name << "." << key.name << " has no row in the table";
    }
  }
}

TEST(Config, EveryKeyOfALaterVersionIsRefusedByName) {
  for (const BlockKind* kind : BlockKinds()) {
    for (const Key& key : kind->keys) {
      if (key.support == Support::kNow) continue;
      std::string where;
      const std::string got = ErrorOf(With(*kind, fmt::format("{}: true", key.name), &where));
      const std::string from = where.empty() ? "" : fmt::format(" from '{}'", where);
      const bool first = kind == &kRootBlock || kind == &kSourceBlock || kind == &kTlsBlock;
      const int line = first ? 1 : 2;
      if (key.support == Support::kElsewhere) {
        EXPECT_EQ(got, fmt::format("weir.yaml: '{}' (line {}) is for other databases, and weir "
                                   "reads PostgreSQL only; remove it{}",
                                   key.name, line, from));
        continue;
      }
      EXPECT_EQ(got, fmt::format("weir.yaml: '{}' (line {}) is not supported yet by this version "
                                 "of weir; remove it{}",
                                 key.name, line, from));
      const auto off = Load(With(*kind, fmt::format("{}: false", key.name)));
      EXPECT_EQ(off.ok(), key.support == Support::kOffOnly) << key.name;
    }
  }
}

TEST(Config, ProfilesHaveTheDocumentedDefaults) {
  const auto row = [](Profile profile) {
    const Tuning t = ProfileDefaults(profile);
    return fmt::format("{} {} {} {} {} {} {} {} {} {}", ProfileName(profile), t.batch_size,
                       t.batch_size_memory_mb.value_or(-1), t.throttle_ms, t.statement_timeout_s,
                       t.lock_timeout_s, t.max_retries, t.retry_backoff_ms, t.memory_threshold_mb,
                       t.max_value_mb);
  };
  EXPECT_EQ(row(Profile::kFast), "fast 50000 64 0 0 0 1 1000 0 256");
  EXPECT_EQ(row(Profile::kBalanced), "balanced 10000 32 0 300 30 3 2000 4096 256");
  EXPECT_EQ(row(Profile::kSafe), "safe 2000 -1 0 120 10 10 5000 2048 256");
  EXPECT_EQ(Tuning{}, ProfileDefaults(Profile::kBalanced));
  EXPECT_EQ(ParseProfile("safe"), Profile::kSafe);
  EXPECT_EQ(ParseProfile("slow"), std::nullopt);
}

struct Laying {
  const char* source;
  const char* own;
  Profile profile;
  int64_t batch_size;
  int64_t memory_mb;  // -1: none.
  int64_t throttle_ms;
};

TEST(Config, AnExportsTuningLiesOverTheSourcesFieldByField) {
  const Laying table[] = {
      {"", "", Profile::kBalanced, 10'000, 32, 0},
      {"profile: safe", "", Profile::kSafe, 2000, -1, 0},
      {"profile: safe, throttle_ms: 9", "profile: fast", Profile::kFast, 50'000, 64, 9},
      {"batch_size: 5", "", Profile::kBalanced, 5, -1, 0},
      {"batch_size: 5", "batch_size_memory_mb: 8", Profile::kBalanced, 10'000, 8, 0},
      {"batch_size_memory_mb: 8", "batch_size: 5", Profile::kBalanced, 5, -1, 0},
      {"throttle_ms: 9", "throttle_ms: 0", Profile::kBalanced, 10'000, 32, 0},
  };
  for (const Laying& row : table) {
    Document document;
    document.source_tuning = row.source;
    document.tuning = row.own;
    const Tuning tuning = Load(document.Text()).value().exports[0].tuning;
    EXPECT_EQ(tuning.profile, row.profile) << row.source << " | " << row.own;
    EXPECT_EQ(tuning.batch_size, row.batch_size) << row.source << " | " << row.own;
    EXPECT_EQ(tuning.batch_size_memory_mb.value_or(-1), row.memory_mb) << row.source << row.own;
    EXPECT_EQ(tuning.throttle_ms, row.throttle_ms) << row.source << " | " << row.own;
  }
}

struct Grouping {
  const char* parquet;
  RowGroups groups;
};

TEST(Config, RowGroupsEndWhereTheStrategyAndTheCeilingSay) {
  constexpr int64_t kMb = 1 << 20;
  const Grouping table[] = {
      {"", {128 * kMb, std::nullopt, true}},
      {"row_group_strategy: auto, target_row_group_mb: 256", {256 * kMb, std::nullopt, true}},
      {"target_row_group_mb: 64, max_row_group_mb: 64", {64 * kMb, std::nullopt, true}},
      {"max_row_group_mb: 32", {32 * kMb, std::nullopt, true}},
      {"max_row_group_mb: 512", {128 * kMb, std::nullopt, true}},
      {"row_group_strategy: fixed_memory", {128 * kMb, std::nullopt, false}},
      {"row_group_strategy: fixed_memory, target_row_group_mb: 512, max_row_group_mb: 600",
       {512 * kMb, std::nullopt, false}},
      {"row_group_strategy: fixed_memory, max_row_group_mb: 32", {32 * kMb, std::nullopt, false}},
      {"row_group_strategy: fixed_rows, row_group_rows: 1", {1024 * kMb, 1, false}},
      {"row_group_strategy: fixed_rows, row_group_rows: 10000000, max_row_group_mb: 2048",
       {2048 * kMb, 10'000'000, false}},
  };
  for (const Grouping& row : table) {
    Document document;
    document.parquet = row.parquet;
    const auto loaded = Load(document.Text());
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    const RowGroups& groups = loaded.value().exports[0].row_groups;
    EXPECT_EQ(groups.raw_bytes, row.groups.raw_bytes) << row.parquet;
    EXPECT_EQ(groups.rows, row.groups.rows) << row.parquet;
    EXPECT_EQ(groups.encoded_bound, row.groups.encoded_bound) << row.parquet;
  }
}

struct Refused {
  const BlockKind* kind;
  const char* setting;
  const char* message;  // After "weir.yaml: ".
};

const Refused kRefusedValues[] = {
    {&kRootBlock, "sorce: {}",
     "unknown key 'sorce' (line 1, column 1); did you mean 'source'?"},
    {&kTuningBlock, "throtle_ms: 50",
     "unknown key 'throtle_ms' in 'exports[0].tuning' (line 2, column 96); did you mean "
     "'throttle_ms'?"},
    {&kExportBlock, "throttle_ms: 50",
     "unknown key 'throttle_ms' in 'exports[0]' (line 2, column 48); it belongs in 'tuning'"},
    {&kRootBlock, "mode: full", "unknown key 'mode' (line 1, column 1); it belongs in 'exports'"},
    {&kSourceBlock, "exports: []",
     "unknown key 'exports' in 'source' (line 1, column 38); it belongs at the top of the file"},
    {&kSourceBlock, "zzzzzz: 1",
     "unknown key 'zzzzzz' in 'source' (line 1, column 38); the nearest known key is 'type'"},
    {&kSourceBlock, "'postgres://u:pw@h/d': 1",
     "unknown key, a text of 19 bytes in 'source' (line 1, column 38); the nearest known key is "
     "'password'"},
    {&kSourceBlock, "port: 1, port: 2",
     "cannot read line 1, column 47: key 'port' a second time, first on line 1; keep one"},
    {&kTuningBlock, "batch_size: many",
     "'exports[0].tuning.batch_size' (line 2, column 108): expected a whole number from 1 to "
     "10000000, found 'many'"},
    {&kTuningBlock, "batch_size: '5'",
     "'exports[0].tuning.batch_size' (line 2, column 108): expected a whole number from 1 to "
     "10000000, found the text '5'"},
    {&kTuningBlock, "batch_size: 0",
     "'exports[0].tuning.batch_size' (line 2, column 108): expected a whole number from 1 to "
     "10000000, found '0'"},
    {&kTuningBlock, "batch_size: 99999999999999999999999",
     "'exports[0].tuning.batch_size' (line 2, column 108): expected a whole number from 1 to "
     "10000000, found '99999999999999999999999'"},
    {&kTuningBlock, "throttle_ms: 1.5",
     "'exports[0].tuning.throttle_ms' (line 2, column 109): expected a whole number from 0 to "
     "3600000, found '1.5'"},
    {&kTuningBlock, "throttle_ms: [1]",
     "'exports[0].tuning.throttle_ms' (line 2, column 109): expected a whole number from 0 to "
     "3600000, found a list"},
    {&kTuningBlock, "throttle_ms: ",
     "'exports[0].tuning.throttle_ms' (line 2, column 109): expected a whole number from 0 to "
     "3600000, found nothing"},
    {&kTuningBlock, "batch_size: 1, batch_size_memory_mb: 1",
     "'exports[0].tuning.batch_size_memory_mb' (line 2, column 133): batch_size is written too; "
     "keep one of the two"},
    {&kTuningBlock, "profile: slow",
     "'exports[0].tuning.profile' (line 2, column 105): expected fast, balanced or safe, found "
     "'slow'"},
    {&kTuningBlock, "min_parallel: 2",
     "'min_parallel: 2' (line 2) is not supported yet by this version of weir; write "
     "'min_parallel: 1'"},
    {&kExportBlock, "max_file_size: many",
     "'exports[0].max_file_size' (line 2, column 63): expected a size such as 256MB"},
    {&kExportBlock, "skip_empty: yes",
     "'exports[0].skip_empty' (line 2, column 60): expected true or false, found 'yes'"},
    {&kExportBlock, "mode: chunked",
     "'mode: chunked' (line 2) is not supported yet by this version of weir; write 'mode: full'"},
    {&kExportBlock, "mode: ful",
     "'exports[0].mode' (line 2, column 54): expected full, found 'ful'"},
    {&kExportBlock, "parallel: 4",
     "'parallel: 4' (line 2) is not supported yet by this version of weir; write 'parallel: 1'"},
    {&kExportBlock, "read: cursor",
     "'read: cursor' (line 2) is not supported yet by this version of weir; write 'read: copy'"},
    {&kExportBlock, "query: SELECT 1",
     "'exports[0].query' (line 2, column 55): table is written too; keep one of the two"},
    {&kExportBlock, "compression: brotli",
     "'exports[0].compression' (line 2, column 61): expected none, snappy, gzip, lz4 or zstd, "
     "found 'brotli'"},
    {&kExportBlock, "compression: snappy, compression_level: 3",
     "'exports[0].compression_level' (line 2, column 88): snappy does not take level 3; zstd "
     "takes 1 to 22, gzip 0 to 9, the others none"},
    {&kParquetBlock, "row_group_strategy: fixed_rows",
     "'exports[0].parquet.row_group_rows' (line 2, column 57): is missing; row_group_strategy: "
     "fixed_rows needs it"},
    {&kParquetBlock, "row_group_rows: 5",
     "'exports[0].parquet.row_group_rows' (line 2, column 74): goes with row_group_strategy: "
     "fixed_rows; write that, or remove it"},
    {&kParquetBlock, "row_group_strategy: fixed_memory, row_group_rows: 5",
     "'exports[0].parquet.row_group_rows' (line 2, column 108): goes with row_group_strategy: "
     "fixed_rows; write that, or remove it"},
    {&kParquetBlock, "row_group_strategy: fixed_rows, row_group_rows: 5, target_row_group_mb: 5",
     "'exports[0].parquet.target_row_group_mb' (line 2, column 130): does not go with "
     "row_group_strategy: fixed_rows; write max_row_group_mb for a ceiling"},
    {&kParquetBlock, "target_row_group_mb: 65, max_row_group_mb: 64",
     "'exports[0].parquet.max_row_group_mb' (line 2, column 101): is below target_row_group_mb, "
     "65; keep the smaller of the two"},
    {&kParquetBlock, "row_group_strategy: fixed_rows, row_group_rows: 10000001",
     "'exports[0].parquet.row_group_rows' (line 2, column 106): expected a whole number from 1 to "
     "10000000, found '10000001'"},
    {&kParquetBlock, "row_group_strategy: by_rows",
     "'exports[0].parquet.row_group_strategy' (line 2, column 78): expected auto, fixed_rows or "
     "fixed_memory, found 'by_rows'"},
    {&kParquetBlock, "target_row_group_mb: 0",
     "'exports[0].parquet.target_row_group_mb' (line 2, column 79): expected a whole number from "
     "1 to 16777216, found '0'"},
    {&kExportBlock, "tuning: 5",
     "'exports[0].tuning' (line 2, column 56): expected a block of keys, found '5'"},
    {&kSourceBlock, "environment: staging",
     "'source.environment' (line 1, column 51): expected local, replica or production, found "
     "'staging'"},
    {&kSourceBlock, "url_env: U",
     "'source.host' (line 1, column 32): url_env is written too; keep one of the two"},
    {&kSourceBlock, "password: a, password_env: B",
     "'source.password_env' (line 1, column 65): password is written too; keep one of the two"},
    {&kSourceBlock, "password: [hunter2]",
     "'source.password' (line 1, column 48): expected text, found a list"},
    {&kSourceBlock, "port: 70000",
     "'source.port' (line 1, column 44): expected a whole number from 1 to 65535, found '70000'"},
    {&kSourceBlock, "user: ${NONE}",
     "not valid YAML at line 1, column 45: end of map flow not found"},
    {&kSourceBlock, "user: '${NONE}'",
     "'source.user' (line 1, column 44): 'NONE' is neither a parameter nor an environment "
     "variable; give -p NONE=VALUE or set it, or write $${NONE} for the characters themselves"},
    {&kSourceBlock, "user: '${EMPTY}'",
     "'source.user' (line 1, column 44): expected text, found only variables that are empty"},
    {&kSourceBlock, "user: 'a${1x}'",
     "'source.user' (line 1, column 44): '${' must be followed by a variable's name and '}'; "
     "write $${ for the characters themselves"},
    {&kTlsBlock, "mode: verify_full",
     "'source.tls.mode' (line 1, column 50): expected disable, require, verify-ca or "
     "verify-full, found 'verify_full'"},
    {&kDestinationBlock, "type: s3",
     "cannot read line 2, column 86: key 'type' a second time, first on line 2; keep one"},
};

TEST(Config, WrongValuesAreRefusedWithPlaceAndRemedy) {
  for (const Refused& row : kRefusedValues) {
    EXPECT_EQ(ErrorOf(With(*row.kind, row.setting)), std::string("weir.yaml: ") + row.message)
        << row.setting;
  }
}

struct RefusedDocument {
  const char* text;
  const char* message;  // After "weir.yaml: ".
};

TEST(Config, WrongDocumentsAreRefusedWithPlaceAndRemedy) {
  const RefusedDocument table[] = {
      {"", "the file has no content; write source: and exports:"},
      {"# only words\n", "the file has no content; write source: and exports:"},
      {"text", "'the file' (line 1, column 1): expected a block of keys, found 'text'"},
      {"source: {type: postgres, host: a}\n",
       "'exports' (line 1, column 1): is missing; list at least one export"},
      {"exports: []\n", "'source' (line 1, column 1): is missing; say where to read from"},
      {"source: {type: postgres, host: a}\nexports: []\n",
       "'exports' (line 2, column 10): expected a list with at least one export"},
      {"source: {type: postgres, host: a}\nexports: {a: 1}\n",
       "'exports' (line 2, column 10): expected a list with at least one export"},
      {"source: {host: a}\nexports: []\n",
       "'source.type' (line 1, column 9): is missing; write type: postgres"},
      {"source: {type: mysql, host: a}\nexports: []\n",
       "'source.type' (line 1, column 16): weir reads PostgreSQL only, not mysql"},
      {"source: {type: postgres}\nexports: []\n",
       "'source' (line 1, column 9): needs one of url, url_env, url_file or host"},
      {"source: {type: postgres, url_env: U, user: a}\nexports: []\n",
       "'source.user' (line 1, column 44): goes with host, and url_env is written; keep one of "
       "the two"},
      {"source: {type: postgres, url: ''}\nexports: []\n",
       "'source.url' (line 1, column 31): is empty"},
      {"source:\n  type: postgres\n   host: a\n",
       "not valid YAML at line 3, column 8: illegal map value"},
      {"a: [1, 2\n", "not valid YAML at line 2, column 1: end of sequence flow not found"},
      {"password: *hunter2\n",
       "not valid YAML at line 1, column 11: the referenced anchor is not defined"},
      {"a: 1\n---\nb: 1\n", "cannot read line 3, column 1: a second document; keep one per file"},
      {"a: !!binary aGk=\n",
       "cannot read line 1, column 4: a tag (a word that begins with '!'); put the value in "
       "quotes"},
      {"[1]: 2\n", "cannot read line 1, column 1: a key that is not plain text"},
      {"a: &x [*x]\n",
       "cannot read line 1, column 8: an alias inside the value it stands for"},
      {"a: \xff\n", "cannot read line 1, column 4: not UTF-8 text; save the file as UTF-8"},
      {"a: \xed\xa0\x80\n", "cannot read line 1, column 4: not UTF-8 text; save the file as UTF-8"},
      {"<<: {a: 1}\n", "unknown key, a text of 2 bytes (line 1, column 1); the nearest known key "
                       "is 'load'"},
  };
  for (const RefusedDocument& row : table) {
    EXPECT_EQ(ErrorOf(row.text), std::string("weir.yaml: ") + row.message) << row.text;
  }
}

// An export written whole, and what is wrong with it.
TEST(Config, WrongExportsAreRefusedWithPlaceAndRemedy) {
  const std::pair<const char*, const char*> table[] = {
      {"{table: t}", "'exports[0].name' (line 2, column 11): is missing; every export needs one"},
      {"{name: .a}",
       "'exports[0].name' (line 2, column 18): is used as a file name, so it takes up to 128 "
       "letters, digits, '_', '-' and '.', and begins with none of the last two"},
      {"{name: a/b}",
       "'exports[0].name' (line 2, column 18): is used as a file name, so it takes up to 128 "
       "letters, digits, '_', '-' and '.', and begins with none of the last two"},
      {"{name: a}",
       "'exports[0]' (line 2, column 11): needs one of table, query or query_file"},
      {"{name: a, table: a b}",
       "'exports[0].table' (line 2, column 28): 'a b' is not a table's name: write [schema.]name, "
       "with double quotes around odd characters"},
      {"{name: a, query: ' ;'}",
       "'exports[0].query' (line 2, column 28): holds no statement"},
      {"{name: a, query_file: ../q.sql}",
       "'exports[0].query_file' (line 2, column 33): must be a path below the configuration "
       "file's folder, without '..'"},
      {"{name: a, query_file: /q.sql}",
       "'exports[0].query_file' (line 2, column 33): must be a path below the configuration "
       "file's folder, without '..'"},
      {"{name: a, table: t}",
       "'exports[0].format' (line 2, column 11): is missing; write format: parquet or format: "
       "csv"},
      {"{name: a, table: t, format: csv, compression: zstd}",
       "'exports[0].compression' (line 2, column 57): CSV files are not compressed; write "
       "'compression: none' or 'format: parquet'"},
      {"{name: a, table: t, format: csv, parquet: {}}",
       "'exports[0].parquet' (line 2, column 53): CSV files have no row groups; remove it, or "
       "write 'format: parquet'"},
      {"{name: a, table: t, format: csv}",
       "'exports[0].destination' (line 2, column 11): is missing; write {type: local, path: "
       "FOLDER}"},
      {"{name: a, table: t, format: csv, destination: {path: x}}",
       "'exports[0].destination.type' (line 2, column 57): is missing; write type: local"},
      {"{name: a, table: t, format: csv, destination: {type: s3}}",
       "'type: s3' (line 2) is not supported yet by this version of weir; write 'type: local'"},
      {"{name: a, table: t, format: csv, destination: {bucket: b, type: s3}}",
       "'type: s3' (line 2) is not supported yet by this version of weir; write 'type: local'"},
      {"{name: a, cursor_column: id, mode: incremental, table: t}",
       "'mode: incremental' (line 2) is not supported yet by this version of weir; write "
       "'mode: full'"},
      {"{name: a, table: t, format: csv, destination: {type: local}}",
       "'exports[0].destination.path' (line 2, column 57): is missing; name the folder to write "
       "to"},
      {"{name: a, table: t, format: csv, destination: {type: local, path: 'o/{run_id}'}}",
       "'exports[0].destination.path' (line 2, column 77): '{run_id}' is not a placeholder here; "
       "known are {date}, {export} and {table}"},
      {"{name: a, table: t, format: csv, destination: {type: local, path: 'o/{date'}}",
       "'exports[0].destination.path' (line 2, column 77): '{date' is not a placeholder here; "
       "known are {date}, {export} and {table}"},
  };
  for (const auto& [one, message] : table) {
    EXPECT_EQ(ErrorOf(fmt::format("source: {{type: postgres, host: a}}\nexports: [{}]\n", one)),
              std::string("weir.yaml: ") + message)
        << one;
  }
}

std::string Export(const std::string& name, const std::string& path) {
  return fmt::format("  - {{name: {}, table: t, format: csv, destination: {{type: local, path: "
                     "'{}'}}}}\n",
                     name, path);
}

TEST(Config, ExportsMayNotShareANameOrAFolder) {
  const std::string head = "source: {type: postgres, host: a}\nexports:\n";
  EXPECT_EQ(ErrorOf(head + Export("a", "x") + Export("a", "y")),
            "weir.yaml: 'exports[1].name' (line 4, column 12): 'a' is the name of the export on "
            "line 3 too; names must differ");
  EXPECT_EQ(ErrorOf(head + Export("a", "x/{table}") + Export("b", "x/./{table}/")),
            "weir.yaml: exports 'a' (line 3) and 'b' (line 4) would write to the same folder; give "
            "one another path, or put {export} in it");
  EXPECT_EQ(ErrorOf(head + Export("a", "x") + Export("b", "x/a") + Export("c", "x/a-b")),
            "weir.yaml: export 'b' (line 4) would write inside the folder of 'a' (line 3), which a "
            "run replaces whole; give one another path");
  EXPECT_TRUE(Load(head + Export("a", "x") + Export("a-b", "x") + Export("c", "x/{date}")).ok());
}

TEST(Config, VariablesAreReplacedInAnyValueAndMayBeEscaped) {
  Document document;
  document.source = "type: postgres, host: /tmp, user: 'u-${NAME}-${NAME}', password: '${Q}'";
  document.one = "name: '${NAME}', query: 'SELECT $$a$$, ''$${NAME}'', $1', format: csv, "
                 "skip_empty: '${YES}'";
  document.tuning = "batch_size: '${ROWS}'";
  const auto loaded = Load(document.Text());
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  const Config& config = loaded.value();
  EXPECT_EQ(config.source.user, "u-from_env-from_env");
  EXPECT_EQ(config.source.password.Reveal(), "quo'ted: [x]");
  EXPECT_EQ(config.exports[0].name, "from_env");
  EXPECT_EQ(config.exports[0].query, "SELECT $$a$$, '${NAME}', $1");
  EXPECT_TRUE(config.exports[0].skip_empty);
  EXPECT_EQ(config.exports[0].tuning.batch_size, 777);
}

TEST(Config, AnchorsAndAliasesWork) {
  const auto loaded = Load(
      "source: {type: postgres, host: /tmp, tuning: &t {batch_size: 5}}\n"
      "exports:\n"
      "  - {name: a, table: t, format: csv, tuning: *t, destination: &d {type: local, path: o}}\n"
      "  - {name: b, table: t, format: csv, tuning: *t, destination: *d}\n");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded.value().exports[1].tuning.batch_size, 5);
  EXPECT_EQ(loaded.value().exports[1].line, 4);
}

TEST(Config, ResourcesAreBounded) {
  EXPECT_EQ(ErrorOf(std::string(kMaxConfigBytes + 1, ' ')),
            "weir.yaml: the file is longer than 1048576 bytes; split its exports over files");
  EXPECT_EQ(ErrorOf("a: " + std::string(90, '[') + std::string(90, ']')),
            "weir.yaml: cannot read line 1, column 35: more than 32 levels of nesting");
  EXPECT_EQ(ErrorOf(std::string(60'000, '{')),
            "weir.yaml: cannot read line 1, column 1: more than 50000 brackets in the file");

  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int level = 1; level < 10; ++level) {
    bomb += fmt::format("a{0}: &a{0} [", level);
    for (int i = 0; i < 10; ++i) bomb += fmt::format("{}*a{}", i == 0 ? "" : ", ", level - 1);
    bomb += "]\n";
  }
  EXPECT_EQ(ErrorOf(bomb),
            "weir.yaml: cannot read line 5, column 20: more than 50000 values or 8388608 bytes, "
            "aliases followed");
  std::string long_text = "a: &a '" + std::string(500'000, 'x') + "'\nb: [*a";
  for (int i = 0; i < 100; ++i) long_text += ", *a";
  EXPECT_NE(ErrorOf(long_text + "]\n").find("8388608 bytes"), std::string::npos);

  std::string chain = "a0: &a0 [[[[[[[[x]]]]]]]]\n";  // Each alias deepens the next.
  for (int level = 1; level < 9; ++level) {
    chain += fmt::format("a{0}: &a{0} [[[[*a{1}]]]]\n", level, level - 1);
  }
  EXPECT_NE(ErrorOf(chain).find("more than 32 levels of nesting"), std::string::npos);
  std::string keys;
  for (int i = 0; i < 300; ++i) keys += fmt::format("k{}: 1\n", i);
  EXPECT_EQ(ErrorOf(keys),
            "weir.yaml: cannot read line 257, column 1: more than 256 keys in one block");
}

TEST(Config, TheExamplesLoad) {
  sys::DiskFiles files;
  const auto balanced =
      LoadConfigFile(std::string(WEIR_EXAMPLES) + "/full_balanced.yaml", files, TestEnv);
  ASSERT_TRUE(balanced.ok()) << balanced.error().message;
  EXPECT_EQ(balanced.value().source.url_env, "WEIR_SOURCE_URL");
  const Tuning& slow = balanced.value().exports[0].tuning;
  EXPECT_EQ(slow.profile, Profile::kBalanced);
  EXPECT_EQ(slow.throttle_ms, 50);
  const auto no_throttle =
      LoadConfigFile(std::string(WEIR_EXAMPLES) + "/full_nothrottle.yaml", files, TestEnv);
  ASSERT_TRUE(no_throttle.ok()) << no_throttle.error().message;
  Tuning quick = no_throttle.value().exports[0].tuning;
  EXPECT_EQ(quick.throttle_ms, 0);
  quick.throttle_ms = 50;
  EXPECT_EQ(quick, slow);  // The one difference.
}

TEST(Config, FilesThatCannotBeReadAreRefused) {
  sys::MemoryFiles files;
  EXPECT_EQ(LoadConfigFile("none.yaml", files, TestEnv).error().code, Code::kUsage);
  ASSERT_TRUE(files.WriteWhole("big.yaml", std::string(kMaxConfigBytes + 1, '#')).ok());
  EXPECT_EQ(LoadConfigFile("big.yaml", files, TestEnv).error().message,
            "configuration: 'big.yaml' is longer than 1048576 bytes; name a file with -c");
}

TEST(Config, QueriesComeFromTheFileBesideTheConfiguration) {
  sys::MemoryFiles files;
  ASSERT_TRUE(files.MakeFolder("etc").ok());
  ASSERT_TRUE(files.WriteWhole("etc/a.sql", "SELECT 1\n;\n").ok());
  ASSERT_TRUE(files.WriteWhole("etc/empty.sql", "\n").ok());
  Config config;
  config.path = "etc/weir.yaml";
  ExportConfig one;
  one.name = "a";
  one.query_file = "a.sql";
  EXPECT_EQ(ReadQuery(config, one, files).value(), "SELECT 1");
  one.query_file = "empty.sql";
  EXPECT_EQ(ReadQuery(config, one, files).error().message,
            "query_file of export 'a': 'etc/empty.sql' holds no statement");
  one.query = "SELECT 2";
  EXPECT_EQ(ReadQuery(config, one, files).value(), "SELECT 2");
}

// Dollar signs are common in SQL, so a file is looked through only when there are parameters.
TEST(Config, VariablesAreReplacedInAQueryFileWhereTheyAreAsked) {
  sys::MemoryFiles files;
  ASSERT_TRUE(files.MakeFolder("etc").ok());
  ASSERT_TRUE(files.WriteWhole("etc/a.sql", "SELECT '${day}', '${NAME}', $${x}$$;").ok());
  Config config;
  config.path = "etc/weir.yaml";
  ExportConfig one;
  one.name = "a";
  one.query_file = "a.sql";
  EXPECT_EQ(ReadQuery(config, one, files).value(), "SELECT '${day}', '${NAME}', $${x}$$");
  EXPECT_EQ(ReadQuery(config, one, files, WithParams({{"day", "friday"}}, TestEnv)).value(),
            "SELECT 'friday', 'from_env', ${x}$$");
  EXPECT_EQ(ReadQuery(config, one, files, TestEnv).error().message,
            "query_file of export 'a': 'etc/a.sql': 'day' is neither a parameter nor an "
            "environment variable; give -p day=VALUE or set it, or write $${day} for the "
            "characters themselves");
}

TEST(Config, TheOutputFolderIsThePathAndTheExportUnlessThePathNamesIt) {
  const std::pair<const char*, const char*> table[] = {
      {"out", "out/a"},
      {"out/", "out/a"},
      {"out/{date}", "out/2026-11-30/a"},
      {"out/{export}/{date}", "out/a/2026-11-30"},
      {"out/{table}", "out/shop.Odd%20%2E"},
      {"/", "/a"},
  };
  ExportConfig one;
  one.name = "a";
  one.table = pg::TableName{"shop", "Odd ."};
  for (const auto& [path, folder] : table) {
    one.destination_path = path;
    EXPECT_EQ(OutputFolder(one, "2026-11-30"), folder);
  }
  one.table.reset();
  one.destination_path = "{table}";
  EXPECT_EQ(OutputFolder(one, "2026-11-30"), "a");
}

uint64_t Seed() {
  const char* given = std::getenv("WEIR_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
}

std::string Mutated(std::string text, std::mt19937_64& rng) {
  constexpr std::string_view kBytes = " \n:'\"#{}[],&*-!|>%@x0\t";
  const size_t at = rng() % text.size();
  switch (rng() % 3) {
    case 0: text.erase(at, 1); break;
    case 1: text.insert(at, 1, kBytes[rng() % kBytes.size()]); break;
    default: text[at] = kBytes[rng() % kBytes.size()]; break;
  }
  return text;
}

TEST(NearestKey, NoKnownKeyIsNearerThanTheOneNamed) {
  const uint64_t seed = Seed();
  SCOPED_TRACE(fmt::format("to repeat: WEIR_SEED={}", seed));
  std::mt19937_64 rng(seed);
  for (const BlockKind* kind : BlockKinds()) {
    for (const Key& key : kind->keys) {
      EXPECT_EQ(NearestKey(*kind, key.name), key.name);
      const std::string typo = Mutated(std::string(key.name), rng);
      const std::string_view nearest = NearestKey(*kind, typo);
      EXPECT_LE(EditDistance(nearest, typo), 1u);
      for (const Key& other : kind->keys) {
        EXPECT_LE(EditDistance(nearest, typo), EditDistance(other.name, typo)) << typo;
      }
    }
  }
}

// Goal:   no message tells a password, whatever single slip the file holds.
// Method: one random edit of a file with a password and one with a URL, many times.
TEST(Config, NoErrorRepeatsASecret) {
  const uint64_t seed = Seed();
  SCOPED_TRACE(fmt::format("to repeat: WEIR_SEED={}", seed));
  std::mt19937_64 rng(seed);
  const std::string tail =
      "exports:\n  - name: a\n    table: t\n    format: csv\n    destination:\n"
      "      type: local\n      path: out\n";
  const std::string files[] = {
      "source:\n  type: postgres\n  host: /tmp\n  user: app\n  password: hunter2\n  port: 5432\n" +
          tail,
      "source:\n  type: postgres\n  url: postgresql://app:hunter2@db/shop\n" + tail,
  };
  for (const std::string& file : files) {
    ASSERT_TRUE(Load(file).ok());
    for (int round = 0; round < 3000; ++round) {
      const std::string text = Mutated(file, rng);
      const auto loaded = Load(text);
      if (loaded.ok()) continue;
      EXPECT_EQ(loaded.error().message.find("hunter"), std::string::npos)
          << loaded.error().message << "\n" << text;
      EXPECT_EQ(loaded.error().message.find('\n'), std::string::npos) << loaded.error().message;
    }
  }
}

}  // namespace
}  // namespace weir::config
