#include "weir/file/manifest.h"

#include <nlohmann/json.hpp>

#include "weir/sys/hash.h"

namespace weir::file {
namespace {

using Json = nlohmann::ordered_json;

Json ColumnJson(const table::Column& column) {
  return {{"name", column.name},
          {"attnum", column.attnum},
          {"pg_type", column.pg_type},
          {"typmod", column.typmod},
          {"nullable", column.nullable},
          {"parquet_type", column.type.Name()},
          {"policy", column.policy.empty() ? Json(nullptr) : Json(column.policy)}};
}

Json ColumnsJson(const table::Schema& schema) {
  Json columns = Json::array();
  for (const table::Column& column : schema.columns) columns.push_back(ColumnJson(column));
  return columns;
}

// "list<decimal(12,2)>" back into a type. Lists of lists are never written.
Result<table::Type> ParseType(std::string_view name) {
  table::Type type;
  if (name.starts_with("list<") && name.ends_with(">") && !name.starts_with("list<list")) {
    WEIR_TRY(table::Type element, ParseType(name.substr(5, name.size() - 6)));
    type.kind = table::Kind::kList;
    type.element = std::make_shared<const table::Type>(std::move(element));
    return type;
  }
  if (name.starts_with("decimal(")) {
    type.kind = table::Kind::kDecimal;
    std::sscanf(std::string(name).c_str(), "decimal(%d,%d)", &type.precision, &type.scale);
    const bool sound = type.precision >= 1 && type.precision <= 38 && type.scale >= 0 &&
                       type.scale <= type.precision;
    if (sound && type.Name() == name) return type;
  }
  for (int kind = 0; kind <= static_cast<int>(table::Kind::kUuid); ++kind) {
    type.kind = static_cast<table::Kind>(kind);
    if (type.kind != table::Kind::kDecimal && table::KindName(type.kind) == name) return type;
  }
  return Fail(Code::kCorrupt, "unknown column type '{}'", name);
}

// Names that are not UTF-8, which JSON cannot say, get the replacement character.
std::string Dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string TextOrEmpty(const Json& value) {
  return value.is_string() ? value.get<std::string>() : "";
}

Result<table::Column> ParseColumn(const Json& json) {
  table::Column column;
  column.name = json.at("name").get<std::string>();
  column.attnum = json.at("attnum").get<int>();
  column.pg_type = json.at("pg_type").get<std::string>();
  column.typmod = json.at("typmod").get<int32_t>();
  column.nullable = json.at("nullable").get<bool>();
  column.policy = TextOrEmpty(json.at("policy"));
  WEIR_TRY(column.type, ParseType(json.at("parquet_type").get<std::string>()));
  return column;
}

Result<table::Schema> ParseColumns(const Json& json) {
  table::Schema schema;
  for (const Json& column : json) {
    WEIR_TRY(table::Column parsed, ParseColumn(column));
    schema.columns.push_back(std::move(parsed));
  }
  return schema;
}

// A path that cannot lead out of the export's folder, and counts that make sense.
Result<FilePart> ParsePart(const Json& json) {
  FilePart part{json.at("path").get<std::string>(), json.at("rows").get<int64_t>(),
                json.at("bytes").get<int64_t>(), json.at("xxh3").get<std::string>()};
  const std::string fenced = "/" + part.path + "/";
  const bool inside = !part.path.empty() && fenced.find("//") == fenced.npos &&
                      fenced.find("/../") == fenced.npos;
  if (!inside || part.rows < 0 || part.bytes < 0) {
    return Fail(Code::kCorrupt, "the manifest names a part that cannot be: '{}' of {} rows",
                part.path, part.rows);
  }
  return part;
}

Result<Manifest> FromJson(const Json& json) {
  const int version = json.at("version").get<int>();
  if (version != kManifestVersion) {
    return Fail(
        Code::kInvalid,
        "manifest version {} is not known here (this version of weir reads {}); use a newer "
        "weir",
        version, kManifestVersion);
  }
  Manifest manifest;
  manifest.run_id = json.at("run_id").get<std::string>();
  manifest.export_name = json.at("export").get<std::string>();
  manifest.status = json.at("status").get<std::string>();
  manifest.format = json.at("format").get<std::string>();
  manifest.snapshot_lsn = TextOrEmpty(json.at("snapshot").at("lsn"));
  manifest.snapshot_xid = TextOrEmpty(json.at("snapshot").at("xid"));
  manifest.snapshot_taken_at = TextOrEmpty(json.at("snapshot").at("taken_at"));
  WEIR_TRY(manifest.schema, ParseColumns(json.at("columns")));
  manifest.primary_key = json.at("primary_key").get<std::vector<std::string>>();
  for (const Json& part : json.at("parts")) {
    WEIR_TRY(manifest.parts.emplace_back(), ParsePart(part));
  }
  if (manifest.total_rows() != json.at("totals").at("rows").get<int64_t>() ||
      manifest.total_bytes() != json.at("totals").at("bytes").get<int64_t>()) {
    return Fail(Code::kCorrupt, "manifest of run {}: its totals are not the sum of its parts",
                manifest.run_id);
  }
  return manifest;
}

}  // namespace

int64_t Manifest::total_rows() const {
  int64_t rows = 0;
  for (const FilePart& part : parts) rows += part.rows;
  return rows;
}

int64_t Manifest::total_bytes() const {
  int64_t bytes = 0;
  for (const FilePart& part : parts) bytes += part.bytes;
  return bytes;
}

std::string SchemaJson(const table::Schema& schema) {
  return Dump(Json{{"version", kManifestVersion}, {"columns", ColumnsJson(schema)}}, -1);
}

Result<table::Schema> ParseSchemaJson(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  try {
    if (json.is_object()) return ParseColumns(json.at("columns"));
  } catch (const Json::exception&) {
  }
  return Fail(Code::kCorrupt, "the weir.schema key is damaged");
}

std::string ManifestJson(const Manifest& manifest) {
  const auto or_null = [](const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
  };
  Json parts = Json::array();
  for (const FilePart& part : manifest.parts) {
    parts.push_back(
        {{"path", part.path}, {"rows", part.rows}, {"bytes", part.bytes}, {"xxh3", part.xxh3}});
  }
  const Json json = {{"version", kManifestVersion},
                     {"run_id", manifest.run_id},
                     {"export", manifest.export_name},
                     {"status", manifest.status},
                     {"format", manifest.format},
                     {"snapshot",
                      {{"lsn", or_null(manifest.snapshot_lsn)},
                       {"xid", or_null(manifest.snapshot_xid)},
                       {"taken_at", or_null(manifest.snapshot_taken_at)}}},
                     {"columns", ColumnsJson(manifest.schema)},
                     {"primary_key", manifest.primary_key},
                     {"parts", parts},
                     {"totals",
                      {{"rows", manifest.total_rows()},
                       {"bytes", manifest.total_bytes()},
                       {"parts", manifest.parts.size()}}}};
  return Dump(json, 2) + "\n";
}

Result<Manifest> ParseManifest(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) {
    return Fail(Code::kCorrupt, "the manifest is not a JSON object");
  }
  try {
    return FromJson(json);
  } catch (const Json::exception& thrown) {  // A key that is missing or of another type.
    return Fail(Code::kCorrupt, "the manifest lacks something: {}", thrown.what());
  }
}

Result<Manifest> ReadManifest(sys::Files& files, const std::string& folder) {
  const std::string path = sys::JoinPath(folder, kManifestName);
  WEIR_TRY(const std::string text, files.Read(path, kMostManifestBytes));
  const std::string success = sys::JoinPath(folder, kSuccessName);
  if (files.Exists(success)) {
    WEIR_TRY(const std::string marker, files.Read(success, 4096));
    if (marker != fmt::format("{:016x}\n", sys::Xxh3(AsBytes(text)))) {
      return Fail(Code::kCorrupt, "'{}' does not belong to the manifest beside it", success);
    }
  }
  WEIR_TRY(Manifest manifest, ParseManifest(text), "'{}'", path);
  return manifest;
}

}  // namespace weir::file
