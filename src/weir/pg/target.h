#pragma once
// Target: where a PostgreSQL is and how to reach it, kept so that its password cannot be printed by
//         accident.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/base/result.h"

namespace weir::pg {

/// A parsed connection URI or key=value string. What it leaves out, libpq fills from its
/// environment (PGHOST, PGSERVICE, .pgpass, ...).
class Target {
 public:
  /// Errors: kUsage, without repeating the text, which may hold a password; also for empty text,
  /// where `postgresql://` asks for libpq's own defaults.
  static Result<Target> Parse(std::string_view text);

  /// "user@host:port/database" of the parts that were written; never a password.
  std::string Describe() const;

  /// Replaces or adds one libpq keyword.
  void Set(const std::string& keyword, std::string value);
  /// The keyword's value, or empty.
  std::string Get(std::string_view keyword) const;

  /// `text` with every secret of this target replaced by "***".
  std::string Redact(std::string text) const;

  const std::vector<std::pair<std::string, std::string>>& keywords() const { return keywords_; }

 private:
  std::vector<std::pair<std::string, std::string>> keywords_;
};

}  // namespace weir::pg
