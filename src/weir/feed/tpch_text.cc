#include "weir/base/assert.h"
#include "weir/feed/tpch_text_internal.h"

namespace weir::feed {
namespace {

// The specification's pool has 300 MB. Cuts of a smaller one repeat as rarely as anyone can see,
// and it fits where comments are made fast.
constexpr size_t kPoolBytes = 4 << 20;
constexpr uint64_t kTextStream = 100;

std::string_view Draw(Random& random, std::span<const Word> words) {
  int64_t total = 0;
  for (const Word& word : words) total += word.weight;
  int64_t left = random.Below(total);
  for (const Word& word : words) {
    left -= word.weight;
    if (left < 0) return word.text;
  }
  WEIR_ASSERT(false);
}

}  // namespace

TpchText::TpchText(uint64_t seed) {
  pool_.reserve(kPoolBytes + 1000);
  Random random(seed, kTextStream, 0, 0);
  while (pool_.size() < kPoolBytes) AddSentence(random);
}

void TpchText::AddWord(Random& random, std::span<const Word> words) {
  if (!pool_.empty()) pool_ += ' ';
  pool_ += Draw(random, words);
}

void TpchText::AddPhrase(Random& random, std::string_view parts) {
  for (const char part : parts) {
    switch (part) {
      case 'N': AddWord(random, kNouns); break;
      case 'J': AddWord(random, kAdjectives); break;
      case 'D': AddWord(random, kAdverbs); break;
      case 'V': AddWord(random, kVerbs); break;
      case 'X': AddWord(random, kAuxiliaries); break;
      case 'P': AddWord(random, kPrepositions); pool_ += " the"; break;
      case ',': pool_ += ','; break;
      default: WEIR_ASSERT(false);
    }
  }
}

void TpchText::AddSentence(Random& random) {
  for (const char part : Draw(random, kSentences)) {
    switch (part) {
      case 'n': AddPhrase(random, Draw(random, kNounPhrases)); break;
      case 'v': AddPhrase(random, Draw(random, kVerbPhrases)); break;
      case 'p':
        AddPhrase(random, "P");
        AddPhrase(random, Draw(random, kNounPhrases));
        break;
      default: WEIR_ASSERT(false);
    }
  }
  pool_ += Draw(random, kTerminators);
}

}  // namespace weir::feed
