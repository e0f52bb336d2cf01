-- wide_value: small rows, and one text of :megabytes MB in the middle of them.
--
-- Steps and :first, :last are as in content_items.sql; content_items.cc puts in :megabytes too.

-- step: table
-- Flushed at commit, or VACUUM would come too early to set hint bits.
BEGIN;
SET LOCAL synchronous_commit = on;

CREATE TABLE wide_value (
    id    bigint NOT NULL,
    body  text   NOT NULL
);
-- Hexadecimal digits of hashes give pglz nothing to hold on to.
ALTER TABLE wide_value ALTER COLUMN body SET STORAGE EXTERNAL;

-- step: rows
INSERT INTO wide_value
SELECT
    n,
    CASE WHEN n = (:last::bigint + 1) / 2
         THEN (SELECT string_agg(md5(piece::text), '' ORDER BY piece)
               FROM generate_series(1, :megabytes * 31250) AS piece)
         ELSE md5(n::text)
    END
FROM generate_series(:first::bigint, :last::bigint) AS n;

-- step: keys
ALTER TABLE wide_value ADD PRIMARY KEY (id);
COMMIT;

-- step: vacuum
-- Sets hint bits and freezes, so that reading never dirties a page.
VACUUM (FREEZE, ANALYZE) wide_value;
