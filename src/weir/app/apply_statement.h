#pragma once
// ApplyStatements: what a SQL file says, done to an engine.
#include <string_view>

#include "weir/hydrate/engine.h"
#include "weir/sys/files.h"

namespace weir::app {

/// In the order of the text; nothing hydrates yet. Folders are relative to where the program runs.
/// Errors: of sql::ParseStatements, feed::OpenParquetSource and the engine, with the statement's
///         place.
Status ApplyStatements(std::string_view text, sys::Files& files, hydrate::Engine& engine);

}  // namespace weir::app
