#pragma once
// ServerFolder: the locked folder in which one LocalServer keeps its data, socket and log.
#include <memory>
#include <optional>
#include <string>

#include "weir/base/result.h"
#include "weir/sys/child.h"

namespace weir::pg {

/// A folder of mode 0700 that belongs to the server's user and to one LocalServer at a time.
///
/// Shape:  lock   flocked while in use; its presence also marks the folder as ours
///         keep   says that a folder under /tmp was left on purpose
///         data   PostgreSQL's data folder; data.new while it is being made
///         log    the server's stderr
/// Threads: one at a time. Destruction removes a folder that Open() made, unless it is kept.
class ServerFolder {
 public:
  /// Opens `wanted`, or makes a new one when that is empty (and sweeps what killed processes left).
  /// Errors: kInvalid when it is too long for a socket, not ours, in use, or out of `user`'s reach.
  static Result<std::unique_ptr<ServerFolder>> Open(const std::string& wanted, bool keep,
                                                    const std::optional<sys::User>& user);
  /// `wanted` as an absolute path, if a server of `user` can live there. Makes nothing.
  /// Errors: kInvalid when it is too long for a socket or out of `user`'s reach.
  static Result<std::string> CheckPath(const std::string& wanted,
                                       const std::optional<sys::User>& user);
  ~ServerFolder();
  ServerFolder(const ServerFolder&) = delete;
  ServerFolder& operator=(const ServerFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string Path(std::string_view name) const;

 private:
  ServerFolder(std::string path, bool keep) : path_(std::move(path)), keep_(keep) {}
  Status Make(const std::optional<sys::User>& user);
  Status TakeUp();
  Status Lock();

  std::string path_;
  bool keep_;
  bool made_ = false;
  int lock_fd_ = -1;
};

/// True if `user` may pass through every folder above `path`, going by owner and mode.
bool CanReach(const std::string& path, const sys::User& user);

}  // namespace weir::pg
