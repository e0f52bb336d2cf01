#include <algorithm>
#include <array>
#include <charconv>

#include "weir/base/edit_distance.h"
#include "weir/sql/interval_internal.h"
#include "weir/sql/source_statement_internal.h"

namespace weir::sql {
namespace {

// Words that may stand at one place, each with those that must follow it.
using Phrases = std::span<const std::string_view>;

constexpr std::string_view kVerbs[] = {"CREATE SOURCE", "ALTER SOURCE", "DROP SOURCE"};
constexpr std::string_view kBeforeFrom[] = {"FROM", "IN CLUSTER"};
constexpr std::string_view kOrigins[] = {"LOAD GENERATOR TPCH", "PARQUET"};
constexpr std::string_view kAfterOrigin[] = {"FOR ALL TABLES", "IN CLUSTER"};
constexpr std::string_view kOptions[] = {"SCALE FACTOR", "TICK INTERVAL", "SEED"};
constexpr std::string_view kChanges[] = {"PAUSE", "RESUME"};

std::string_view FirstWord(std::string_view phrase) { return phrase.substr(0, phrase.find(' ')); }

// "A", "A or B", "A, B or C".
std::string Alternatives(Phrases phrases) {
  std::string list(phrases[0]);
  for (size_t at = 1; at < phrases.size(); ++at) {
    list += at + 1 == phrases.size() ? " or " : ", ";
    list += phrases[at];
  }
  return list;
}

std::string Quoted(const Token& token) {
  const bool has_quotes = token.kind == TokenKind::kText || token.kind == TokenKind::kQuotedName;
  return has_quotes ? Shown(token.text) : fmt::format("'{}'", Shown(token.text));
}

// What stands in the way of `wanted`.
Error Expected(std::string_view wanted, const Token& found) {
  if (found.kind == TokenKind::kEnd) {
    return FailAt(found.at, "the statement ends where {} should stand", wanted);
  }
  return FailAt(found.at, "{} stands where {} should", Quoted(found), wanted);
}

Error ExpectedOneOf(Phrases phrases, const Token& found) {
  Error error = Expected(Alternatives(phrases), found);
  if (found.kind != TokenKind::kWord) return error;
  const auto distance = [&](std::string_view phrase) {
    return EditDistance(FirstWord(phrase), found.text);
  };
  const auto nearer = [&](std::string_view a, std::string_view b) {
    return distance(a) < distance(b);
  };
  const std::string_view nearest = *std::min_element(phrases.begin(), phrases.end(), nearer);
  if (distance(nearest) * 2 <= FirstWord(nearest).size()) {
    error.message += fmt::format("; did you mean {}?", FirstWord(nearest));
  }
  return error;
}

template <typename Number>
std::optional<Number> NumberIn(const Token& token) {
  Number number{};
  const char* end = token.text.data() + token.text.size();
  const auto [stop, problem] = std::from_chars(token.text.data(), end, number);
  const bool whole = problem == std::errc() && stop == end;
  return token.kind == TokenKind::kNumber && whole ? std::optional(number) : std::nullopt;
}

class SourceParser {
 public:
  explicit SourceParser(std::span<const Token> tokens) : rest_(tokens) {}

  Result<StatementBody> Parse() {
    WEIR_TRY(const size_t verb, TakePhrase(kVerbs));
    if (verb == 0) return Finished(Create());
    if (verb == 1) return Finished(Alter());
    return Finished(Drop());
  }

 private:
  const Token& next() const { return rest_.front(); }
  void Pass() { rest_ = rest_.subspan(1); }

  // `body`, if nothing follows it.
  template <typename Body>
  Result<StatementBody> Finished(Result<Body> body) {
    if (!body.ok()) return std::move(body).error();
    if (next().kind != TokenKind::kEnd) return Expected("the end of the statement", next());
    return StatementBody(std::move(body).value());
  }

  Result<CreateSource> Create() {
    CreateSource source;
    WEIR_TRY(source.if_not_exists, TakeCondition("IF NOT EXISTS"));
    WEIR_TRY(source.name, TakeName("the source's name"));
    while (true) {
      const Position at = next().at;
      WEIR_TRY(const size_t clause, TakePhrase(kBeforeFrom));
      if (clause == 0) break;
      WEIR_DO(TakeCluster(at, source));
    }
    WEIR_TRY(const size_t origin, TakePhrase(kOrigins));
    if (origin == 0) {
      WEIR_TRY(source.from, TakeTpchOptions());
    } else {
      WEIR_TRY(source.from, TakeFolder());
    }
    WEIR_DO(TakeTrailingClauses(source));
    return source;
  }

  Result<AlterSource> Alter() {
    AlterSource alter;
    WEIR_TRY(alter.name, TakeName("the source's name"));
    WEIR_TRY(const size_t change, TakePhrase(kChanges));
    alter.change = change == 0 ? AlterSource::Change::kPause : AlterSource::Change::kResume;
    return alter;
  }

  Result<DropSource> Drop() {
    DropSource drop;
    WEIR_TRY(drop.if_exists, TakeCondition("IF EXISTS"));
    WEIR_TRY(drop.name, TakeName("the source's name"));
    return drop;
  }

  Status TakeTrailingClauses(CreateSource& source) {
    bool all_tables = false;
    while (next().kind != TokenKind::kEnd) {
      const Position at = next().at;
      WEIR_TRY(const size_t clause, TakePhrase(kAfterOrigin));
      if (clause == 0) {
        WEIR_DO(Once(all_tables, kAfterOrigin[0], at));
      } else {
        WEIR_DO(TakeCluster(at, source));
      }
    }
    return Ok();
  }

  // The name after IN CLUSTER, which began at `at`.
  Status TakeCluster(Position at, CreateSource& source) {
    bool seen = !source.cluster.empty();
    WEIR_DO(Once(seen, "IN CLUSTER", at));
    WEIR_TRY(source.cluster, TakeName("the cluster's name"));
    return Ok();
  }

  Result<TpchLoad> TakeTpchOptions() {
    TpchLoad load;
    if (!TakeSymbol("(")) return load;
    std::array<bool, std::size(kOptions)> seen{};
    do {
      const Position at = next().at;
      WEIR_TRY(const size_t option, TakePhrase(kOptions));
      WEIR_DO(Once(seen[option], kOptions[option], at));
      TakeSymbol("=");  // Materialize lets it stand there.
      WEIR_DO(TakeValue(option, load));
    } while (TakeSymbol(","));
    if (!TakeSymbol(")")) return Expected("',' or ')'", next());
    return load;
  }

  Status TakeValue(size_t option, TpchLoad& load) {
    if (option == 0) {
      WEIR_TRY(load.scale_factor, TakeScaleFactor());
    } else if (option == 1) {
      WEIR_TRY(load.tick_interval, TakeTickInterval());
    } else {
      WEIR_TRY(load.seed, TakeSeed());
    }
    return Ok();
  }

  Result<double> TakeScaleFactor() {
    const auto number = NumberIn<double>(next());
    if (!number.has_value() || !(*number > 0 && *number <= kMaxScaleFactor)) {
      return Expected(fmt::format("a number above 0 and at most {}", kMaxScaleFactor), next());
    }
    Pass();
    return *number;
  }

  Result<std::chrono::microseconds> TakeTickInterval() {
    const auto interval = next().kind == TokenKind::kText ? ParseInterval(Unquoted(next().text))
                                                          : std::nullopt;
    if (!interval.has_value() || interval->count() == 0) {
      return Expected("a time above 0 and at most a day, like '1s', '500 ms' or '00:00:01',",
                      next());
    }
    Pass();
    return *interval;
  }

  Result<uint64_t> TakeSeed() {
    const auto number = NumberIn<uint64_t>(next());
    if (!number.has_value()) return Expected("a whole number from 0 to 2^64 - 1", next());
    Pass();
    return *number;
  }

  Result<ParquetFolder> TakeFolder() {
    if (next().kind != TokenKind::kText || next().text == "''") {
      return Expected("a folder's path in single quotes", next());
    }
    ParquetFolder folder{Unquoted(next().text)};
    Pass();
    return folder;
  }

  // Takes one of the phrases and tells which. Its first word decides; the others must follow.
  Result<size_t> TakePhrase(Phrases phrases) {
    for (size_t at = 0; at < phrases.size(); ++at) {
      if (!IsWord(next(), FirstWord(phrases[at]))) continue;
      WEIR_DO(TakeWords(phrases[at]));
      return at;
    }
    return ExpectedOneOf(phrases, next());
  }

  Status TakeWords(std::string_view words) {
    while (!words.empty()) {
      const std::string_view word = FirstWord(words);
      if (!IsWord(next(), word)) return ExpectedOneOf(Phrases(&word, 1), next());
      Pass();
      words.remove_prefix(std::min(word.size() + 1, words.size()));
    }
    return Ok();
  }

  // IF begins a condition; a source with that name is written in double quotes.
  Result<bool> TakeCondition(std::string_view words) {
    if (!IsWord(next(), "IF")) return false;
    WEIR_DO(TakeWords(words));
    return true;
  }

  Result<std::string> TakeName(std::string_view whose) {
    if (!IsName(next()) || IsWord(next(), "FROM")) return Expected(whose, next());
    std::string name = NameOf(next());
    Pass();
    return name;
  }

  bool TakeSymbol(std::string_view symbol) {
    const bool found = next().kind == TokenKind::kSymbol && next().text == symbol;
    if (found) Pass();
    return found;
  }

  static Status Once(bool& seen, std::string_view phrase, Position at) {
    if (seen) return FailAt(at, "{} stands here a second time; keep one", phrase);
    seen = true;
    return Ok();
  }

  std::span<const Token> rest_;
};

}  // namespace

bool IsSourceStatement(std::span<const Token> tokens) {
  if (tokens.size() < 2 || !IsWord(tokens[1], "SOURCE")) return false;
  return std::any_of(std::begin(kVerbs), std::end(kVerbs), [&](std::string_view verb) {
    return IsWord(tokens[0], FirstWord(verb));
  });
}

Result<StatementBody> ParseSourceStatement(std::span<const Token> tokens) {
  return SourceParser(tokens).Parse();
}

}  // namespace weir::sql
