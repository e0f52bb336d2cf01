#pragma once
// TpchText: the pool of sentences that comments are cut from.
#include <span>
#include <string>

#include "weir/feed/random_internal.h"
#include "weir/feed/tpch_words_internal.h"

namespace weir::feed {

/// A few megabytes of sentences made by the grammar of the TPC-H specification, 4.2.2.14.
///
/// Threads: any, once made.
class TpchText {
 public:
  explicit TpchText(uint64_t seed);

  /// A cut of `lowest` to `highest` bytes. The pool outlives it.
  std::string_view Cut(Random& random, int64_t lowest, int64_t highest) const {
    const int64_t size = random.Between(lowest, highest);
    const auto most = static_cast<int64_t>(pool_.size()) - size;
    return std::string_view(pool_).substr(static_cast<size_t>(random.Below(most + 1)),
                                          static_cast<size_t>(size));
  }

 private:
  void AddSentence(Random& random);
  void AddPhrase(Random& random, std::string_view parts);
  void AddWord(Random& random, std::span<const Word> words);

  std::string pool_;
};

}  // namespace weir::feed
