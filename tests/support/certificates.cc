#include "tests/support/certificates.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <atomic>

#include "weir/base/assert.h"

namespace weir::test {
namespace {

std::string TextOf(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  std::string text(bytes, static_cast<size_t>(size));
  BIO_free(bio);
  return text;
}

void AddExtension(X509* certificate, X509* issuer, int id, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str());
  WEIR_ASSERT(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1);
  X509_EXTENSION_free(extension);
}

X509* NewCertificate(EVP_PKEY* key, const std::string& name, int64_t begins_s, int64_t ends_s) {
  static std::atomic<long> serial{1};
  X509* certificate = X509_new();
  X509_set_version(certificate, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate), begins_s);
  X509_gmtime_adj(X509_getm_notAfter(certificate), ends_s);
  X509_set_pubkey(certificate, key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  return certificate;
}

Certificate Finish(X509* certificate, EVP_PKEY* key, EVP_PKEY* signer) {
  WEIR_ASSERT(X509_sign(certificate, signer, EVP_sha256()) > 0);
  BIO* certificate_text = BIO_new(BIO_s_mem());
  BIO* key_text = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(certificate_text, certificate);
  PEM_write_bio_PrivateKey(key_text, key, nullptr, nullptr, 0, nullptr, nullptr);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return {TextOf(certificate_text), TextOf(key_text)};
}

BIO* ReadFrom(const std::string& text) {
  return BIO_new_mem_buf(text.data(), static_cast<int>(text.size()));
}

}  // namespace

Certificate MakeCa(const std::string& name) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = NewCertificate(key, name, -86'400, 86'400);
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
  AddExtension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE");
  AddExtension(certificate, certificate, NID_key_usage, "critical,keyCertSign");
  return Finish(certificate, key, key);
}

Certificate MakeCertificate(const Certificate& ca, const CertificateOptions& options) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = NewCertificate(key, "weir test", options.begins_s, options.ends_s);
  std::string names = options.name.empty() ? "" : "DNS:" + options.name;
  if (!options.address.empty()) names += (names.empty() ? "IP:" : ",IP:") + options.address;
  if (!names.empty()) AddExtension(certificate, certificate, NID_subject_alt_name, names);
  if (ca.key.empty()) {
    X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
    return Finish(certificate, key, key);
  }
  BIO* issuer_text = ReadFrom(ca.certificate);
  BIO* signer_text = ReadFrom(ca.key);
  X509* issuer = PEM_read_bio_X509(issuer_text, nullptr, nullptr, nullptr);
  EVP_PKEY* signer = PEM_read_bio_PrivateKey(signer_text, nullptr, nullptr, nullptr);
  WEIR_ASSERT(issuer != nullptr && signer != nullptr);
  X509_set_issuer_name(certificate, X509_get_subject_name(issuer));
  Certificate made = Finish(certificate, key, signer);
  X509_free(issuer);
  EVP_PKEY_free(signer);
  BIO_free(issuer_text);
  BIO_free(signer_text);
  return made;
}

}  // namespace weir::test
