// The only file of net that includes OpenSSL.
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "weir/base/assert.h"
#include "weir/net/tls_internal.h"

namespace weir::net {
namespace {

/// The oldest entry of this thread's queue of errors, in words; the queue is empty afterwards.
std::string TakeError() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  if (reason != nullptr) return reason;
  return code == 0 ? "the connection broke off" : std::strerror(static_cast<int>(code & 0x7FFFFF));
}

int SocketOf(BIO* bio) { return static_cast<int>(reinterpret_cast<intptr_t>(BIO_get_data(bio))); }

// OpenSSL's own socket BIO raises SIGPIPE; this one does not.
int BioWrite(BIO* bio, const char* bytes, int count) {
  BIO_clear_retry_flags(bio);
  const ssize_t sent = send(SocketOf(bio), bytes, static_cast<size_t>(count), MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int BioRead(BIO* bio, char* room, int count) {
  BIO_clear_retry_flags(bio);
  const ssize_t got = recv(SocketOf(bio), room, static_cast<size_t>(count), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
  if (got == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return static_cast<int>(got);
}

long BioControl(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD* SocketMethod() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "weir socket");
    WEIR_ASSERT(made != nullptr);
    BIO_meth_set_write(made, BioWrite);
    BIO_meth_set_read(made, BioRead);
    BIO_meth_set_ctrl(made, BioControl);
    return made;
  }();
  return method;
}

SSL* NewSession(SSL_CTX* context, int socket) {
  SSL* ssl = SSL_new(context);
  BIO* bio = BIO_new(SocketMethod());
  WEIR_ASSERT(ssl != nullptr && bio != nullptr);
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<intptr_t>(socket)));
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl, bio, bio);
  return ssl;
}

SSL_CTX* NewContext(const SSL_METHOD* method) {
  SSL_CTX* context = SSL_CTX_new(method);
  WEIR_ASSERT(context != nullptr);
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE);
  // A session that waits has no buffers; a write that could not finish may come from elsewhere.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  return context;
}

}  // namespace

TlsContext::~TlsContext() { SSL_CTX_free(context_); }

Result<std::shared_ptr<TlsContext>> TlsContext::ForServer(const std::string& certificate_file,
                                                          const std::string& key_file) {
  ERR_clear_error();
  std::shared_ptr<TlsContext> made(new TlsContext(NewContext(TLS_server_method())));
  SSL_CTX* const context = made->context_;
  SSL_CTX_set_num_tickets(context, 0);  // Connections are kept, so sessions are not resumed.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  if (SSL_CTX_use_certificate_chain_file(context, certificate_file.c_str()) != 1) {
    return Fail(Code::kUsage, "cannot use the certificate file '{}': {}; name a PEM file",
                certificate_file, TakeError());
  }
  if (SSL_CTX_use_PrivateKey_file(context, key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    return Fail(Code::kUsage,
                "cannot use the key file '{}': {}; name the PEM file with the certificate's key",
                key_file, TakeError());
  }
  return made;
}

Result<std::shared_ptr<TlsContext>> TlsContext::ForClient(const std::string& ca_file) {
  ERR_clear_error();
  std::shared_ptr<TlsContext> made(new TlsContext(NewContext(TLS_client_method())));
  SSL_CTX* const context = made->context_;
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  const int loaded = ca_file.empty() ? SSL_CTX_set_default_verify_paths(context)
                                     : SSL_CTX_load_verify_file(context, ca_file.c_str());
  if (loaded != 1) {
    return Fail(Code::kUsage, "cannot use the CA file '{}': {}; name a PEM file of certificates",
                ca_file, TakeError());
  }
  return made;
}

std::unique_ptr<TlsSession> TlsSession::Accept(const TlsContext& context, int socket) {
  SSL* ssl = NewSession(context.context_, socket);
  SSL_set_accept_state(ssl);
  return std::unique_ptr<TlsSession>(new TlsSession(ssl));
}

std::unique_ptr<TlsSession> TlsSession::Connect(const TlsContext& context, int socket,
                                                const std::string& host) {
  SSL* ssl = NewSession(context.context_, socket);
  SSL_set_connect_state(ssl);
  X509_VERIFY_PARAM* const rules = SSL_get0_param(ssl);
  // An address is looked for among the certificate's addresses, and is no server name.
  if (X509_VERIFY_PARAM_set1_ip_asc(rules, host.c_str()) != 1) {
    X509_VERIFY_PARAM_set_hostflags(rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    WEIR_ASSERT(SSL_set1_host(ssl, host.c_str()) == 1);
    WEIR_ASSERT(SSL_set_tlsext_host_name(ssl, host.c_str()) == 1);
  }
  return std::unique_ptr<TlsSession>(new TlsSession(ssl));
}

TlsSession::~TlsSession() { SSL_free(ssl_); }

IoStep TlsSession::StepFor(int result) {
  switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_READ:
      return IoStep::kWaitRead;
    case SSL_ERROR_WANT_WRITE:
      return IoStep::kWaitWrite;
    case SSL_ERROR_ZERO_RETURN:
      return IoStep::kClosed;
    default:
      break;
  }
  failed_ = true;
  const long verdict = SSL_get_verify_result(ssl_);
  reason_ = TakeError();
  if (SSL_is_server(ssl_) == 0 && verdict != X509_V_OK) {
    distrusted_ = true;
    reason_ = X509_verify_cert_error_string(verdict);
  }
  return IoStep::kFailed;
}

IoStep TlsSession::Handshake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_);
  return result == 1 ? IoStep::kDone : StepFor(result);
}

IoStep TlsSession::Read(std::span<char> room, size_t& bytes) {
  ERR_clear_error();
  const int result = SSL_read_ex(ssl_, room.data(), room.size(), &bytes);
  return result == 1 ? IoStep::kDone : StepFor(result);
}

IoStep TlsSession::Write(std::string_view text, size_t& bytes) {
  ERR_clear_error();
  const int result = SSL_write_ex(ssl_, text.data(), text.size(), &bytes);
  return result == 1 ? IoStep::kDone : StepFor(result);
}

void TlsSession::Close() {
  if (failed_ || SSL_in_init(ssl_) != 0) return;
  ERR_clear_error();
  SSL_shutdown(ssl_);
  ERR_clear_error();
}

}  // namespace weir::net
