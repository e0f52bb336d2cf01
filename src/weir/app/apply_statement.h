#pragma once
// ApplyStatements: what a SQL file says, done to an engine.
#include <string_view>

#include "weir/app/hydrate_options.h"
#include "weir/hydrate/engine.h"
#include "weir/sys/files.h"

namespace weir::app {

/// In the order of the text; nothing hydrates yet. Folders are relative to where the program runs.
/// `options` are those that the engine was made of; what a statement sets is noted there too.
/// Errors: of sql::ParseStatements, feed::OpenParquetSource and the engine, with the statement's
///         place; kUsage for a setting that would have no effect beside the others.
Status ApplyStatements(std::string_view text, sys::Files& files, hydrate::Engine& engine,
                       HydrateOptions& options);

}  // namespace weir::app
