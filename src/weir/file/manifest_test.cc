#include "weir/file/manifest.h"

#include "weir/sys/hash.h"

namespace weir::file {
namespace {

using table::Kind;

Manifest Example() {
  Manifest manifest;
  manifest.run_id = "20261130T111535-3f9ac2-1";
  manifest.export_name = "public.\"Odd \\ name\"";
  manifest.status = "success";
  manifest.format = "parquet";
  manifest.snapshot_lsn = "0/16B3748";
  manifest.snapshot_taken_at = "2026-11-30T11:15:35.123Z";
  for (int kind = 0; kind <= static_cast<int>(Kind::kUuid); ++kind) {
    table::Column column;
    column.name = fmt::format("ü {}", kind);
    column.attnum = kind + 1;
    column.pg_type = "any type";
    column.typmod = kind == 0 ? -1 : kind;
    column.nullable = kind % 2 == 0;
    column.policy = kind == 3 ? "text" : "";
    column.type.kind = static_cast<Kind>(kind);
    if (column.type.kind == Kind::kDecimal) {
      column.type.precision = 38;
      column.type.scale = 4;
    }
    manifest.schema.columns.push_back(column);
    column.name += " list";
    column.type = {.kind = Kind::kList,
                   .precision = 0,
                   .scale = 0,
                   .element = std::make_shared<const table::Type>(column.type)};
    manifest.schema.columns.push_back(column);
  }
  manifest.primary_key = {"ü 0", "ü 1"};
  manifest.parts = {{"part-00000.parquet", 10, 2000, "00000000000000aa"},
                    {"part-00001.parquet", 5, int64_t{1} << 40, "00000000000000bb"}};
  return manifest;
}

TEST(Manifest, ReadsBackWhatWasWritten) {
  const Manifest manifest = Example();
  const auto parsed = ParseManifest(ManifestJson(manifest));
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(ManifestJson(parsed.value()), ManifestJson(manifest));
  EXPECT_EQ(parsed.value().snapshot_xid, "");
  EXPECT_EQ(parsed.value().total_rows(), 15);
  EXPECT_EQ(parsed.value().total_bytes(), 2000 + (int64_t{1} << 40));
  EXPECT_EQ(parsed.value().schema.columns[3].policy, manifest.schema.columns[3].policy);
  const auto schema = ParseSchemaJson(SchemaJson(manifest.schema));
  ASSERT_TRUE(schema.ok());
  EXPECT_EQ(SchemaJson(schema.value()), SchemaJson(manifest.schema));
}

TEST(Manifest, ANewerVersionIsRefusedByNumber) {
  std::string json = ManifestJson(Example());
  json.replace(json.find("\"version\": 1"), 12, "\"version\": 2");
  const auto parsed = ParseManifest(json);
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().code, Code::kInvalid);
  EXPECT_EQ(parsed.error().message,
            "manifest version 2 is not known here (this version of weir reads 1); use a newer "
            "weir");
}

TEST(Manifest, CutAnywhereIsCorrupt) {
  const std::string json = ManifestJson(Example());
  for (size_t length = 0; length + 2 < json.size(); length += 7) {  // Without only the last brace.
    const auto parsed = ParseManifest(std::string_view(json).substr(0, length));
    ASSERT_FALSE(parsed.ok()) << length;
    EXPECT_EQ(parsed.error().code, Code::kCorrupt);
  }
}

TEST(Manifest, WrongContentsAreCorrupt) {
  const std::string json = ManifestJson(Example());
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"\"rows\": 15", "\"rows\": 16"},
      {"\"rows\": 10", "\"rows\": \"10\""},
      {"\"run_id\"", "\"other\""},
      {"\"columns\": [", "\"columns\": [7, "},
      {"\"uuid\"", "\"uuidish\""},
      {"decimal(38,4)", "decimal(x,4)"},
      {"decimal(38,4)", "decimal(39,4)"},
      {"decimal(38,4)", "decimal(4,5)"},
      {"decimal(38,4)", "decimal(4,2)x"},
      {"list<uuid>", "list<list>"},
      {"\"primary_key\": [", "\"primary_key\": [null, "},
      {"\"snapshot\": {", "\"snapshot\": [{"},
      {"\"version\": 1", "\"version\": \"1\""},
      {"part-00000.parquet", "../part-00000.parquet"},
      {"part-00000.parquet", "/etc/passwd"},
      {"\"rows\": 10", "\"rows\": -10"},
  };
  for (const auto& [from, to] : changes) {
    std::string changed = json;
    const size_t at = changed.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    const auto parsed = ParseManifest(changed);
    ASSERT_FALSE(parsed.ok()) << to;
    EXPECT_EQ(parsed.error().code, Code::kCorrupt) << to;
    EXPECT_EQ(parsed.error().message.find('\n'), std::string::npos);
  }
  for (const char* text : {"[]", "null", "7", "\xff", "{}"}) {
    EXPECT_EQ(ParseManifest(text).error().code, Code::kCorrupt) << text;
  }
}

TEST(Manifest, NamesThatAreNotUtf8DoNotEndTheProgram) {
  Manifest manifest = Example();
  manifest.export_name = "caf\xe9";
  EXPECT_TRUE(ParseManifest(ManifestJson(manifest)).ok());
}

TEST(Manifest, ReadChecksTheSuccessMarker) {
  sys::MemoryFiles files;
  ASSERT_TRUE(files.MakeFolder("t").ok());
  EXPECT_EQ(ReadManifest(files, "t").error().code, Code::kNotFound);
  const std::string json = ManifestJson(Example());
  ASSERT_TRUE(files.WriteWhole("t/manifest.json", json).ok());
  EXPECT_TRUE(ReadManifest(files, "t").ok());
  ASSERT_TRUE(
      files.WriteWhole("t/_SUCCESS", fmt::format("{:016x}\n", sys::Xxh3(AsBytes(json)))).ok());
  EXPECT_TRUE(ReadManifest(files, "t").ok());
  ASSERT_TRUE(files.ReplaceWhole("t/_SUCCESS", "0000000000000000\n").ok());
  const auto read = ReadManifest(files, "t");
  EXPECT_EQ(read.error().code, Code::kCorrupt);
  EXPECT_EQ(read.error().message, "'t/_SUCCESS' does not belong to the manifest beside it");
}

}  // namespace
}  // namespace weir::file
