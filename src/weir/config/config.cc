#include "weir/config/config.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "weir/base/units.h"
#include "weir/config/block_internal.h"
#include "weir/config/tuning_internal.h"

namespace weir::config {
namespace {

using enum Support;

// Leaves room for a stamp, a part number and an extension in a file name of 255 bytes.
constexpr size_t kMaxNameBytes = 128;
constexpr int64_t kMaxQueryBytes = 1 << 20;

constexpr Word kSourceTypes[] = {
    {"postgres"}, {"mysql", kElsewhere}, {"mssql", kElsewhere}, {"mongo", kElsewhere}};
constexpr Word kEnvironments[] = {{"local"}, {"replica"}, {"production"}};
constexpr Word kTlsModes[] = {{"disable"}, {"require"}, {"verify-ca"}, {"verify-full"}};
constexpr Word kModes[] = {
    {"full"},
    {"incremental", kLater},
    {"chunked", kLater},
    {"time_window", kLater},
    {"cdc", kLater},
};
constexpr Word kReads[] = {{"copy"}, {"cursor", kLater}};
constexpr Word kFormats[] = {{"parquet"}, {"csv"}};
constexpr Word kCompressions[] = {{"none"}, {"snappy"}, {"gzip"}, {"lz4"}, {"zstd"}};
constexpr Word kCompressionProfiles[] = {{"none"}, {"fast"}, {"balanced"}, {"compact"}};
enum class RowGroupStrategy { kAuto, kFixedRows, kFixedMemory };
constexpr Word kRowGroupStrategies[] = {{"auto"}, {"fixed_rows"}, {"fixed_memory"}};
constexpr int64_t kMostRowGroupRows = 10'000'000;
constexpr int64_t kTargetRowGroupMb = 128;
// The ceiling of fixed_rows when none is written. What these values take encoded is held in memory
// until the group ends, and the profile `safe` lets the process have 2048 MB.
constexpr int64_t kMostRowGroupMb = 1024;
constexpr Word kDestinationTypes[] = {
    {"local"}, {"s3", kLater}, {"gcs", kLater}, {"azure", kLater}, {"stdout", kLater}};

// "url, url_env and host": keys of `block` that are written.
std::vector<std::string_view> Written(const Block& block,
                                      std::initializer_list<std::string_view> keys) {
  std::vector<std::string_view> written;
  for (const std::string_view key : keys) {
    if (block.Has(key)) written.push_back(key);
  }
  return written;
}

template <typename T>
void Set(std::optional<T> from, T& to) {
  if (from.has_value()) to = *std::move(from);
}

Status ReadAddress(const Block& block, SourceConfig& source) {
  const auto ways = Written(block, {"url", "url_env", "url_file", "host"});
  if (ways.empty()) return block.Wrong("needs one of url, url_env, url_file or host");
  if (ways.size() > 1) {
    return block.Wrong(ways[1], fmt::format("{} is written too; keep one of the two", ways[0]));
  }
  WEIR_TRY(auto url, block.SecretText("url"));
  Set(std::move(url), source.url);
  if (ways[0] == "url" && source.url.empty()) return block.Wrong("url", "is empty");
  WEIR_TRY(auto url_env, block.Text("url_env"));
  Set(std::move(url_env), source.url_env);
  WEIR_TRY(auto url_file, block.Text("url_file"));
  Set(std::move(url_file), source.url_file);
  WEIR_TRY(auto host, block.Text("host"));
  Set(std::move(host), source.host);

  const auto parts = Written(block, {"port", "user", "database", "password", "password_env"});
  if (source.host.empty() && !parts.empty()) {
    return block.Wrong(parts[0], fmt::format("goes with host, and {} is written; keep one of the "
                                             "two",
                                             ways[0]));
  }
  WEIR_TRY(const auto port, block.Number("port", 1, 65'535));
  if (port.has_value()) source.port = static_cast<int>(*port);
  WEIR_TRY(auto user, block.Text("user"));
  Set(std::move(user), source.user);
  WEIR_TRY(auto database, block.Text("database"));
  Set(std::move(database), source.database);
  WEIR_TRY(auto password, block.SecretText("password"));
  Set(std::move(password), source.password);
  WEIR_TRY(auto password_env, block.Text("password_env"));
  Set(std::move(password_env), source.password_env);
  if (block.Has("password") && block.Has("password_env")) {
    return block.Wrong("password_env", "password is written too; keep one of the two");
  }
  return Ok();
}

Result<std::optional<TlsConfig>> ReadTls(const Block& source) {
  WEIR_TRY(const auto block, source.Inner("tls", kTlsBlock));
  if (!block.has_value()) return std::optional<TlsConfig>();
  TlsConfig tls;
  WEIR_TRY(const auto mode, block->OneOf("mode", kTlsModes));
  if (mode.has_value()) tls.mode = static_cast<TlsMode>(*mode);
  WEIR_TRY(auto ca_file, block->Text("ca_file"));
  Set(std::move(ca_file), tls.ca_file);
  return std::optional(tls);
}

// What the exports need of the source.
struct SourceRead {
  SourceConfig source;
  Profile profile = Profile::kBalanced;
  TuningWritten tuning;
};

Result<SourceRead> ReadSource(const Block& root) {
  SourceRead read;
  WEIR_TRY(const auto block, root.Inner("source", kSourceBlock, {"type", kSourceTypes}));
  if (!block.has_value()) return root.Wrong("source", "is missing; say where to read from");
  WEIR_TRY(const auto type, block->OneOf("type", kSourceTypes));
  if (!type.has_value()) return block->Wrong("type", "is missing; write type: postgres");
  WEIR_DO(ReadAddress(*block, read.source));
  WEIR_TRY(const auto environment, block->OneOf("environment", kEnvironments));
  if (environment.has_value()) {
    read.source.environment = kEnvironments[*environment].text;
    if (read.source.environment == "local") read.profile = Profile::kFast;
  }
  WEIR_TRY(read.source.tls, ReadTls(*block));
  WEIR_TRY(read.tuning, ReadTuning(*block));
  return read;
}

Status ReadName(const Block& block, ExportConfig& one) {
  WEIR_TRY(auto name, block.Text("name"));
  if (!name.has_value()) return block.Wrong("name", "is missing; every export needs one");
  const auto safe = [](unsigned char c) {
    return c == '_' || c == '-' || c == '.' || (c >= '0' && c <= '9') ||
           ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
  };
  if (!std::all_of(name->begin(), name->end(), safe) || name->front() == '.' ||
      name->front() == '-' || name->size() > kMaxNameBytes) {
    return block.Wrong("name", fmt::format("is used as a file name, so it takes up to {} letters, "
                                           "digits, '_', '-' and '.', and begins with none of the "
                                           "last two",
                                           kMaxNameBytes));
  }
  one.name = *std::move(name);
  return Ok();
}

// One statement, as COPY (...) takes it.
std::string WithoutSemicolon(std::string query) {
  const size_t last = query.find_last_not_of("; \t\r\n");
  query.resize(last == query.npos ? 0 : last + 1);
  return query;
}

bool IsInside(const std::string& path) {
  const std::filesystem::path parts(path);
  return !parts.is_absolute() &&
         std::none_of(parts.begin(), parts.end(), [](const auto& part) { return part == ".."; });
}

Status ReadSubject(const Block& block, ExportConfig& one) {
  const auto ways = Written(block, {"table", "query", "query_file"});
  if (ways.empty()) return block.Wrong("needs one of table, query or query_file");
  if (ways.size() > 1) {
    return block.Wrong(ways[1], fmt::format("{} is written too; keep one of the two", ways[0]));
  }
  WEIR_TRY(const auto table, block.Text("table"));
  if (table.has_value()) {
    auto name = pg::TableName::Parse(*table);
    if (!name.ok()) return block.Wrong("table", name.error().message);
    one.table = std::move(name).value();
  }
  WEIR_TRY(auto query, block.Text("query"));
  if (query.has_value()) {
    one.query = WithoutSemicolon(*std::move(query));
    if (one.query.empty()) return block.Wrong("query", "holds no statement");
  }
  WEIR_TRY(auto query_file, block.Text("query_file"));
  Set(std::move(query_file), one.query_file);
  if (!IsInside(one.query_file)) {
    return block.Wrong("query_file", "must be a path below the configuration file's folder, "
                                     "without '..'");
  }
  return Ok();
}

Status ReadCompression(const Block& block, ExportConfig& one) {
  WEIR_TRY(const auto compression, block.OneOf("compression", kCompressions));
  WEIR_TRY(const auto level, block.Number("compression_level", 0, 22));
  WEIR_TRY(const auto profile, block.OneOf("compression_profile", kCompressionProfiles));
  if (one.format == Format::kCsv) {
    one.compression = Compression::kNone;
    const std::string_view csv = "CSV files are not compressed; write 'compression: none' or "
                                 "'format: parquet'";
    if (compression.value_or(0) != 0) return block.Wrong("compression", csv);
    if (profile.value_or(0) != 0) return block.Wrong("compression_profile", csv);
    if (level.has_value()) return block.Wrong("compression_level", csv);
    return Ok();
  }
  if (compression.has_value()) one.compression = static_cast<Compression>(*compression);
  if (level.has_value()) {
    const Status fits = CheckCompressionLevel(one.compression, *level);
    if (!fits.ok()) return block.Wrong("compression_level", fits.error().message);
    one.compression_level = static_cast<int>(*level);
  }
  if (profile.has_value()) {  // It overrides the other two.
    constexpr Compression kOf[] = {Compression::kNone, Compression::kSnappy, Compression::kZstd,
                                   Compression::kZstd};
    constexpr std::optional<int> kLevels[] = {std::nullopt, std::nullopt, 3, 9};
    one.compression = kOf[*profile];
    one.compression_level = kLevels[*profile];
  }
  return Ok();
}

Status CheckRowGroups(const Block& block, RowGroupStrategy strategy) {
  const bool by_rows = strategy == RowGroupStrategy::kFixedRows;
  if (by_rows && !block.Has("row_group_rows")) {
    return block.Wrong("row_group_rows", "is missing; row_group_strategy: fixed_rows needs it");
  }
  if (!by_rows && block.Has("row_group_rows")) {
    return block.Wrong("row_group_rows", "goes with row_group_strategy: fixed_rows; write that, or "
                                         "remove it");
  }
  if (by_rows && block.Has("target_row_group_mb")) {
    return block.Wrong("target_row_group_mb", "does not go with row_group_strategy: fixed_rows; "
                                              "write max_row_group_mb for a ceiling");
  }
  return Ok();
}

Result<RowGroups> ReadRowGroups(const Block& parent, Format format) {
  RowGroups groups;
  WEIR_TRY(const auto block, parent.Inner("parquet", kParquetBlock));
  if (!block.has_value()) return groups;
  if (format != Format::kParquet) {
    return parent.Wrong("parquet", "CSV files have no row groups; remove it, or write "
                                   "'format: parquet'");
  }
  WEIR_TRY(const auto written, block->OneOf("row_group_strategy", kRowGroupStrategies));
  const auto strategy = static_cast<RowGroupStrategy>(written.value_or(0));
  WEIR_TRY(groups.rows, block->Number("row_group_rows", 1, kMostRowGroupRows));
  WEIR_TRY(const auto target_mb, block->Number("target_row_group_mb", 1, kMaxMegabytes));
  WEIR_TRY(const auto most_mb, block->Number("max_row_group_mb", 1, kMaxMegabytes));
  WEIR_DO(CheckRowGroups(*block, strategy));
  if (most_mb.has_value() && target_mb.value_or(0) > *most_mb) {
    return block->Wrong("max_row_group_mb", fmt::format("is below target_row_group_mb, {}; keep "
                                                        "the smaller of the two",
                                                        *target_mb));
  }
  groups.encoded_bound = strategy == RowGroupStrategy::kAuto;
  const int64_t own_mb = target_mb.value_or(kTargetRowGroupMb);
  groups.raw_bytes = strategy == RowGroupStrategy::kFixedRows
                         ? most_mb.value_or(kMostRowGroupMb) * kMiB
                         : std::min(own_mb, most_mb.value_or(own_mb)) * kMiB;
  return groups;
}

// Refuses braces that OutputFolder would leave in the path.
Status CheckPlaceholders(const Block& block, std::string_view path) {
  for (size_t open = path.find('{'); open != path.npos; open = path.find('{', open + 1)) {
    const std::string_view rest = path.substr(open);
    const std::string_view name = rest.substr(0, rest.find('}') + 1);
    if (name == "{date}" || name == "{export}" || name == "{table}") continue;
    return block.Wrong("path", fmt::format("{} is not a placeholder here; known are {{date}}, "
                                           "{{export}} and {{table}}",
                                           Shown(name.empty() ? rest : name)));
  }
  return Ok();
}

Status ReadDestination(const Block& parent, ExportConfig& one) {
  WEIR_TRY(const auto block,
           parent.Inner("destination", kDestinationBlock, {"type", kDestinationTypes}));
  if (!block.has_value()) {
    return parent.Wrong("destination", "is missing; write {type: local, path: FOLDER}");
  }
  WEIR_TRY(const auto type, block->OneOf("type", kDestinationTypes));
  if (!type.has_value()) return block->Wrong("type", "is missing; write type: local");
  WEIR_TRY(auto path, block->Text("path"));
  if (!path.has_value()) return block->Wrong("path", "is missing; name the folder to write to");
  one.destination_path = *std::move(path);
  return CheckPlaceholders(*block, one.destination_path);
}

Result<ExportConfig> ReadExport(const Block& block, const SourceRead& source) {
  ExportConfig one;
  one.line = block.node().at.line;
  WEIR_DO(ReadName(block, one));
  WEIR_DO(ReadSubject(block, one));
  WEIR_DO(block.OneOf("mode", kModes));
  WEIR_DO(block.OneOf("read", kReads));
  WEIR_TRY(const auto parallel, block.Number("parallel", 1, 1024));
  if (parallel.value_or(1) > 1) return block.NotYet("parallel", std::to_string(*parallel), "1");
  WEIR_TRY(const auto format, block.OneOf("format", kFormats));
  if (!format.has_value()) {
    return block.Wrong("format", "is missing; write format: parquet or format: csv");
  }
  one.format = static_cast<Format>(*format);
  WEIR_DO(ReadCompression(block, one));
  WEIR_TRY(one.row_groups, ReadRowGroups(block, one.format));
  WEIR_TRY(const auto skip_empty, block.Switch("skip_empty"));
  one.skip_empty = skip_empty.value_or(false);
  WEIR_TRY(const auto max_file_size, block.Text("max_file_size"));
  if (max_file_size.has_value()) {
    const auto bytes = ParseByteSize(*max_file_size);
    if (!bytes.ok() || bytes.value() == 0) {
      return block.Wrong("max_file_size", "expected a size such as 256MB");
    }
    one.max_file_bytes = bytes.value();
  }
  WEIR_DO(ReadDestination(block, one));
  WEIR_TRY(const TuningWritten own, ReadTuning(block));
  one.tuning = Overlay(source.profile, source.tuning, own);
  return one;
}

// A run swaps whole folders, so one inside another would be lost.
Status CheckFolders(const Config& config) {
  std::map<std::filesystem::path, const ExportConfig*> by_folder;
  for (const ExportConfig& one : config.exports) {
    auto folder = std::filesystem::path(OutputFolder(one, "{date}") + "/").lexically_normal();
    folder = folder.parent_path();  // Without the slash at the end.
    const auto [at, fresh] = by_folder.emplace(std::move(folder), &one);
    if (fresh) continue;
    return Fail(Code::kUsage,
                "{}: exports '{}' (line {}) and '{}' (line {}) would write to the same folder; "
                "give one another path, or put {{export}} in it",
                config.path, at->second->name, at->second->line, one.name, one.line);
  }
  // Paths sort by their parts, so whatever lies inside a folder follows it at once.
  const std::filesystem::path* outer = nullptr;
  const ExportConfig* outer_export = nullptr;
  for (const auto& [folder, one] : by_folder) {
    if (outer != nullptr &&
        std::mismatch(outer->begin(), outer->end(), folder.begin(), folder.end()).first ==
            outer->end()) {
      return Fail(Code::kUsage,
                  "{}: export '{}' (line {}) would write inside the folder of '{}' (line {}), "
                  "which a run replaces whole; give one another path",
                  config.path, one->name, one->line, outer_export->name, outer_export->line);
    }
    outer = &folder;
    outer_export = one;
  }
  return Ok();
}

Status ReadExports(const Block& root, const SourceRead& source, Config& config) {
  const Node* list = root.Find("exports");
  const std::string_view wanted = "expected a list with at least one export";
  if (list == nullptr) return root.Wrong("exports", "is missing; list at least one export");
  if (list->kind != Node::Kind::kSequence || list->items.empty()) {
    return root.Wrong("exports", wanted);
  }
  std::map<std::string, int> lines;
  for (size_t i = 0; i < list->items.size(); ++i) {
    WEIR_TRY(const Block block, Block::Of(list->items[i], fmt::format("exports[{}]", i),
                                          kExportBlock, root.context(), {"mode", kModes}));
    WEIR_TRY(ExportConfig one, ReadExport(block, source));
    const auto [first, fresh] = lines.emplace(one.name, one.line);
    if (!fresh) {
      return block.Wrong("name", fmt::format("'{}' is the name of the export on line {} too; names "
                                             "must differ",
                                             one.name, first->second));
    }
    config.exports.push_back(std::move(one));
  }
  return CheckFolders(config);
}

void ReplaceAll(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

std::string_view TlsModeName(TlsMode mode) { return kTlsModes[static_cast<size_t>(mode)].text; }
std::string_view FormatName(Format format) { return kFormats[static_cast<size_t>(format)].text; }
std::optional<Compression> ParseCompression(std::string_view name) {
  for (size_t at = 0; at < std::size(kCompressions); ++at) {
    if (kCompressions[at].text == name) return static_cast<Compression>(at);
  }
  return std::nullopt;
}

Status CheckCompressionLevel(Compression compression, int64_t level) {
  const bool zstd = compression == Compression::kZstd && level >= 1 && level <= 22;
  const bool gzip = compression == Compression::kGzip && level >= 0 && level <= 9;
  if (zstd || gzip) return Ok();
  return Fail(Code::kUsage,
              "{} does not take level {}; zstd takes 1 to 22, gzip 0 to 9, the others none",
              CompressionName(compression), level);
}

std::string_view CompressionName(Compression compression) {
  return kCompressions[static_cast<size_t>(compression)].text;
}

Result<Config> LoadConfig(std::string_view text, const std::string& path, const GetEnv& get_env) {
  if (static_cast<int64_t>(text.size()) > kMaxConfigBytes) {
    return Fail(Code::kUsage, "{}: the file is longer than {} bytes; split its exports over files",
                path, kMaxConfigBytes);
  }
  WEIR_TRY(const Node tree, ParseYaml(text, path));
  const Context context{path, get_env};
  WEIR_TRY(const Block root, Block::Of(tree, "", kRootBlock, context));
  Config config;
  config.path = path;
  WEIR_TRY(SourceRead source, ReadSource(root));
  WEIR_DO(ReadExports(root, source, config));
  config.source = std::move(source.source);
  return config;
}

Result<Config> LoadConfigFile(const std::string& path, sys::Files& files, const GetEnv& get_env) {
  auto text = files.Read(path, kMaxConfigBytes);
  if (!text.ok()) {
    return Fail(Code::kUsage, "configuration: {}; name a file with -c", text.error().message);
  }
  return LoadConfig(text.value(), path, get_env);
}

std::string OutputFolder(const ExportConfig& config, std::string_view date_utc) {
  std::string folder = config.destination_path;
  const bool own = folder.find("{export}") != folder.npos || folder.find("{table}") != folder.npos;
  if (!own) folder = sys::JoinPath(folder, config.name);
  ReplaceAll(folder, "{date}", date_utc);
  ReplaceAll(folder, "{export}", config.name);
  ReplaceAll(folder, "{table}",
             config.table.has_value() ? config.table->FileName() : config.name);
  return folder;
}

Result<std::string> ReadQuery(const Config& config, const ExportConfig& one, sys::Files& files,
                              const GetEnv& variables) {
  if (!one.query.empty()) return one.query;
  WEIR_ASSERT(!one.query_file.empty());
  const std::string path = sys::JoinPath(sys::ParentPath(config.path), one.query_file);
  auto text = files.Read(path, kMaxQueryBytes);
  if (!text.ok()) {
    return Fail(Code::kUsage, "query_file of export '{}': {}", one.name, text.error().message);
  }
  if (variables) text = ExpandVariables(text.value(), variables);
  if (!text.ok()) {
    return Fail(Code::kUsage, "query_file of export '{}': '{}': {}", one.name, path,
                text.error().message);
  }
  std::string query = WithoutSemicolon(std::move(text).value());
  if (query.empty()) {
    return Fail(Code::kUsage, "query_file of export '{}': '{}' holds no statement", one.name, path);
  }
  return query;
}

}  // namespace weir::config
