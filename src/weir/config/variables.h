#pragma once
// Variables: what ${NAME} in a configuration stands for: a parameter of the command line, else an
//            environment variable.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/base/result.h"

namespace weir::config {

/// Looks up a variable; nothing when it is not set.
using GetEnv = std::function<std::optional<std::string>(const std::string& name)>;

/// Reads the process's own environment.
std::optional<std::string> ProcessEnv(const std::string& name);

/// Values by name.
using Params = std::map<std::string, std::string>;

/// Reads NAME=VALUE words; a value may be empty and may hold '='.
///
/// Errors: kUsage for a word without '=', a name that ${NAME} cannot have, and a name given twice.
///         No message repeats a value.
Result<Params> ParseParams(const std::vector<std::string>& words);

/// Looks among `params` first, then where `get_env` looks.
GetEnv WithParams(Params params, GetEnv get_env);

/// `text` with each ${NAME} replaced, and each $${ by ${.
/// Errors: kUsage for a name that `get_env` does not know, and for ${ without a name and }.
Result<std::string> ExpandVariables(std::string_view text, const GetEnv& get_env);

}  // namespace weir::config
