#pragma once
// The words of TPC-H: value lists and grammar of the TPC Benchmark H specification, clauses 4.2.2
// and 4.2.3.
#include <array>
#include <span>
#include <string_view>

namespace weir::feed {

/// A word, and how often it is drawn beside the others of its list.
struct Word {
  std::string_view text;
  int weight = 1;
};

inline constexpr Word kNouns[] = {
    {"packages", 40},    {"requests", 40},    {"accounts", 40},     {"deposits", 40},
    {"foxes", 20},       {"ideas", 20},       {"theodolites", 20},  {"pinto beans", 20},
    {"instructions", 20}, {"dependencies", 10}, {"excuses", 10},    {"platelets", 10},
    {"asymptotes", 10},  {"courts", 5},       {"dolphins", 5},      {"multipliers"},
    {"sauternes"},       {"warthogs"},        {"frets"},            {"dinos"},
    {"attainments"},     {"somas"},           {"Tiresias"},         {"patterns"},
    {"forges"},          {"braids"},          {"hockey players"},   {"frays"},
    {"warhorses"},       {"dugouts"},         {"notornis"},         {"epitaphs"},
    {"pearls"},          {"tithes"},          {"waters"},           {"orbits"},
    {"gifts"},           {"sheaves"},         {"depths"},           {"sentiments"},
    {"decoys"},          {"realms"},          {"pains"},            {"grouches"},
    {"escapades"}};

inline constexpr Word kVerbs[] = {
    {"sleep", 20}, {"wake", 20},   {"are", 20},     {"cajole", 20}, {"haggle", 20}, {"nag", 10},
    {"use", 10},   {"boost", 10},  {"affix", 5},    {"detect", 5},  {"integrate", 5}, {"maintain"},
    {"nod"},       {"was"},        {"lose"},        {"sublate"},    {"solve"},      {"thrash"},
    {"promise"},   {"engage"},     {"hinder"},      {"print"},      {"x-ray"},      {"breach"},
    {"eat"},       {"grow"},       {"impress"},     {"mold"},       {"poach"},      {"serve"},
    {"run"},       {"dazzle"},     {"snooze"},      {"doze"},       {"unwind"},     {"kindle"},
    {"play"},      {"hang"},       {"believe"},     {"doubt"}};

inline constexpr Word kAdjectives[] = {
    {"special", 20}, {"pending", 20}, {"unusual", 20}, {"express", 20}, {"furious"},  {"sly"},
    {"careful"},     {"blithe"},      {"quick"},       {"fluffy"},      {"slow"},     {"quiet"},
    {"ruthless"},    {"thin"},        {"close"},       {"dogged"},      {"daring"},   {"brave"},
    {"stealthy"},    {"permanent"},   {"enticing"},    {"idle"},        {"busy"},
    {"regular", 50}, {"final", 40},   {"ironic", 40},  {"even", 30},    {"bold", 20},
    {"silent", 10}};

inline constexpr Word kAdverbs[] = {
    {"sometimes"},      {"always"},       {"never"},        {"furiously", 50}, {"slyly", 50},
    {"carefully", 50},  {"blithely", 40}, {"quickly", 30},  {"fluffily", 20},  {"slowly"},
    {"quietly"},        {"ruthlessly"},   {"thinly"},       {"closely"},       {"doggedly"},
    {"daringly"},       {"bravely"},      {"stealthily"},   {"permanently"},   {"enticingly"},
    {"idly"},           {"busily"},       {"regularly"},    {"finally"},       {"ironically"},
    {"evenly"},         {"boldly"},       {"silently"}};

inline constexpr Word kPrepositions[] = {
    {"about", 50},   {"above", 50},   {"according to", 50}, {"across", 50},     {"after", 50},
    {"against", 40}, {"along", 40},   {"alongside of", 30}, {"among", 30},      {"around", 20},
    {"at", 10},      {"atop"},        {"before"},           {"behind"},         {"beneath"},
    {"beside"},      {"besides"},     {"between"},          {"beyond"},         {"by"},
    {"despite"},     {"during"},      {"except"},           {"for"},            {"from"},
    {"in place of"}, {"inside"},      {"instead of"},       {"into"},           {"near"},
    {"of"},          {"on"},          {"outside"},          {"over"},           {"past"},
    {"since"},       {"through"},     {"throughout"},       {"to"},             {"toward"},
    {"under"},       {"until"},       {"up"},               {"upon"},           {"without"},
    {"with"},        {"within"}};

inline constexpr Word kAuxiliaries[] = {
    {"do"},           {"may"},           {"might"},          {"shall"},          {"will"},
    {"would"},        {"can"},           {"could"},          {"should"},         {"ought to"},
    {"must"},         {"will have to"},  {"shall have to"},  {"could have to"},  {"should have to"},
    {"must have to"}, {"need to"},       {"try to"}};

inline constexpr Word kTerminators[] = {{".", 50}, {";"}, {":"}, {"?"}, {"!"}, {"--"}};

// Letters of a phrase stand for its parts: N noun, J adjective, D adverb, V verb, X auxiliary,
// P preposition and "the"; in sentences n, v, p are noun, verb and prepositional phrases.
inline constexpr Word kSentences[] = {{"nv", 3}, {"nvp", 3}, {"nvn", 3}, {"npvn"}, {"npvp"}};
inline constexpr Word kNounPhrases[] = {{"N", 10}, {"JN", 20}, {"J,JN", 10}, {"DJN", 50}};
inline constexpr Word kVerbPhrases[] = {{"V", 30}, {"XV"}, {"VD", 40}, {"XVD"}};

inline constexpr std::string_view kColors[] = {
    "almond",     "antique",   "aquamarine", "azure",     "beige",      "bisque",    "black",
    "blanched",   "blue",      "blush",      "brown",     "burlywood",  "burnished", "chartreuse",
    "chiffon",    "chocolate", "coral",      "cornflower", "cornsilk",  "cream",     "cyan",
    "dark",       "deep",      "dim",        "dodger",    "drab",       "firebrick", "floral",
    "forest",     "frosted",   "gainsboro",  "ghost",     "goldenrod",  "green",     "grey",
    "honeydew",   "hot",       "indian",     "ivory",     "khaki",      "lace",      "lavender",
    "lawn",       "lemon",     "light",      "lime",      "linen",      "magenta",   "maroon",
    "medium",     "metallic",  "midnight",   "mint",      "misty",      "moccasin",  "navajo",
    "navy",       "olive",     "orange",     "orchid",    "pale",       "papaya",    "peach",
    "peru",       "pink",      "plum",       "powder",    "puff",       "purple",    "red",
    "rose",       "rosy",      "royal",      "saddle",    "salmon",     "sandy",     "seashell",
    "sienna",     "sky",       "slate",      "smoke",     "snow",       "spring",    "steel",
    "tan",        "thistle",   "tomato",     "turquoise", "violet",     "wheat",     "white",
    "yellow"};

inline constexpr std::string_view kTypeSizes[] = {"STANDARD", "SMALL",   "MEDIUM",
                                                  "LARGE",    "ECONOMY", "PROMO"};
inline constexpr std::string_view kTypeFinishes[] = {"ANODIZED", "BURNISHED", "PLATED", "POLISHED",
                                                     "BRUSHED"};
inline constexpr std::string_view kTypeMetals[] = {"TIN", "NICKEL", "BRASS", "STEEL", "COPPER"};
inline constexpr std::string_view kContainerSizes[] = {"SM", "LG", "MED", "JUMBO", "WRAP"};
inline constexpr std::string_view kContainers[] = {"CASE", "BOX",  "BAG", "JAR",
                                                   "PKG",  "PACK", "CAN", "DRUM"};
inline constexpr std::string_view kSegments[] = {"AUTOMOBILE", "BUILDING", "FURNITURE",
                                                 "MACHINERY", "HOUSEHOLD"};
inline constexpr std::string_view kPriorities[] = {"1-URGENT", "2-HIGH", "3-MEDIUM",
                                                   "4-NOT SPECIFIED", "5-LOW"};
inline constexpr std::string_view kInstructions[] = {"DELIVER IN PERSON", "COLLECT COD", "NONE",
                                                     "TAKE BACK RETURN"};
inline constexpr std::string_view kShipModes[] = {"REG AIR", "AIR",  "RAIL", "SHIP",
                                                  "TRUCK",   "MAIL", "FOB"};

inline constexpr std::string_view kRegions[] = {"AFRICA", "AMERICA", "ASIA", "EUROPE",
                                                "MIDDLE EAST"};

struct Nation {
  std::string_view name;
  int region;
};
inline constexpr Nation kNations[] = {
    {"ALGERIA", 0}, {"ARGENTINA", 1},    {"BRAZIL", 1},     {"CANADA", 1},  {"EGYPT", 4},
    {"ETHIOPIA", 0}, {"FRANCE", 3},      {"GERMANY", 3},    {"INDIA", 2},   {"INDONESIA", 2},
    {"IRAN", 4},    {"IRAQ", 4},         {"JAPAN", 2},      {"JORDAN", 4},  {"KENYA", 0},
    {"MOROCCO", 0}, {"MOZAMBIQUE", 0},   {"PERU", 1},       {"CHINA", 2},   {"ROMANIA", 3},
    {"SAUDI ARABIA", 4}, {"VIETNAM", 2}, {"RUSSIA", 3},     {"UNITED KINGDOM", 3},
    {"UNITED STATES", 1}};

}  // namespace weir::feed
