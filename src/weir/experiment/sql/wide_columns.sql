-- wide_columns: 200 columns, each with a text of 10,240 bytes that hardly compresses: 2 MB a row.
--
-- Steps and :first, :last are as in content_items.sql. A row has one text of 320 hashes, and each
-- column holds it turned by another number of bytes: no column ever repeats a text.

-- step: table
-- Flushed at commit, or VACUUM would come too early to set hint bits.
BEGIN;
SET LOCAL synchronous_commit = on;

DO $$
BEGIN
    EXECUTE (
        SELECT 'CREATE TABLE wide_columns (id bigint NOT NULL, '
            || string_agg(format('c%s text NOT NULL', n), ', ' ORDER BY n) || ')'
        FROM generate_series(1, 200) AS n);
    EXECUTE (
        SELECT 'ALTER TABLE wide_columns '
            || string_agg(format('ALTER COLUMN c%s SET STORAGE EXTERNAL', n), ', ' ORDER BY n)
        FROM generate_series(1, 200) AS n);
END $$;

-- step: rows
DO $$
BEGIN
    EXECUTE (
        SELECT 'INSERT INTO wide_columns SELECT n, '
            || string_agg(format('right(body, %1$s) || left(body, -%1$s)', n * 50), ', ' ORDER BY n)
            || ' FROM generate_series(:first::bigint, :last::bigint) AS n CROSS JOIN LATERAL ('
            || 'SELECT string_agg(md5(n || ''.'' || piece), '''' ORDER BY piece) AS body '
            || 'FROM generate_series(1, 320) AS piece) AS bodies'
        FROM generate_series(1, 200) AS n);
END $$;

-- step: keys
ALTER TABLE wide_columns ADD PRIMARY KEY (id);
COMMIT;

-- step: vacuum
-- Sets hint bits and freezes, so that reading never dirties a page.
VACUUM (FREEZE, ANALYZE) wide_columns;
