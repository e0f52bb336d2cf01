#pragma once
// Certificates for tests: a CA, and what it signs, as PEM texts. Made with OpenSSL in milliseconds.
#include <cstdint>
#include <string>

namespace weir::test {

struct CertificateOptions {
  std::string name = "localhost";     ///< The DNS name it is for; empty: none.
  std::string address = "127.0.0.1";  ///< The address it is for; empty: none.
  int64_t begins_s = -3600;           ///< Seconds from now.
  int64_t ends_s = 3600;
};

struct Certificate {
  std::string certificate;  ///< PEM.
  std::string key;          ///< PEM.
};

/// A CA of its own.
Certificate MakeCa(const std::string& name = "weir test CA");
/// Signed by `ca`; by its own key where `ca` has none.
Certificate MakeCertificate(const Certificate& ca, const CertificateOptions& options);

}  // namespace weir::test
