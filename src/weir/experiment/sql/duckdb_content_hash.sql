-- The rows of one table as file/content_hash.h describes: their number and the sum, over all of
-- them, of the first 64 bits of the MD5 of their texts, as signed numbers. The words in braces are
-- filled in; row_text is the columns' texts, joined.
SELECT count(*) || ':' || sum(
  CAST(bits AS HUGEINT)
  - CASE WHEN bits >= 9223372036854775808 THEN 18446744073709551616 ELSE 0 END)
FROM (
  SELECT CAST('0x' || left(md5({row_text}), 16) AS UBIGINT) AS bits
  FROM read_parquet('{files}/{table}/*.parquet'));
