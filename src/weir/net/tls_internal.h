#pragma once
// TlsContext, TlsSession: TLS over a socket that does not block. The door to OpenSSL.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "weir/base/result.h"

struct ssl_ctx_st;
struct ssl_st;

namespace weir::net {

/// How far a call on a socket came.
enum class IoStep {
  kDone,
  kWaitRead,   ///< Call again when the socket is readable.
  kWaitWrite,  ///< Call again when it is writable.
  kClosed,     ///< The peer has ended its side in order.
  kFailed,     ///< The connection is of no more use.
};

/// Certificates and rules for one server, or for one client's connections.
///
/// Threads: any, once made.
class TlsContext {
 public:
  /// Errors: kUsage when the files cannot be read, are not PEM, or do not belong together.
  static Result<std::shared_ptr<TlsContext>> ForServer(const std::string& certificate_file,
                                                       const std::string& key_file);
  /// Trusts `ca_file`, or what the system trusts where that is empty.
  /// Errors: kUsage when the file cannot be read.
  static Result<std::shared_ptr<TlsContext>> ForClient(const std::string& ca_file);
  ~TlsContext();

 private:
  friend class TlsSession;
  explicit TlsContext(ssl_ctx_st* context) : context_(context) {}
  ssl_ctx_st* context_;
};

/// One connection. The socket stays its owner's.
///
/// Memory:  about 10 KiB between messages, 40 KiB more while one is read or written.
/// Threads: one at a time.
class TlsSession {
 public:
  static std::unique_ptr<TlsSession> Accept(const TlsContext& context, int socket);
  /// The peer's certificate must be for `host`, a name or an address.
  static std::unique_ptr<TlsSession> Connect(const TlsContext& context, int socket,
                                             const std::string& host);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  IoStep Handshake();
  IoStep Read(std::span<char> room, size_t& bytes);
  IoStep Write(std::string_view text, size_t& bytes);
  /// Tells the peer that nothing more comes, as far as that goes without waiting.
  void Close();
  /// After kFailed: why, in words. "certificate has expired", "hostname mismatch".
  const std::string& reason() const { return reason_; }
  /// The handshake failed because of the peer's certificate.
  bool distrusted() const { return distrusted_; }

 private:
  explicit TlsSession(ssl_st* ssl) : ssl_(ssl) {}
  IoStep StepFor(int result);

  ssl_st* ssl_;
  bool failed_ = false;
  bool distrusted_ = false;
  std::string reason_;
};

}  // namespace weir::net
