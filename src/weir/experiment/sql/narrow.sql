-- narrow: 5 integers a row, the table that costs the most per byte to take apart.
--
--   psql -v first=1 -v last=10000000 -f narrow.sql
--
-- Every value is a function of the row's number; steps and variables are as in content_items.sql.

-- step: table
-- Flushed at commit, or VACUUM would come too early to set hint bits.
BEGIN;
SET LOCAL synchronous_commit = on;

CREATE TABLE narrow (
    id        bigint  NOT NULL,
    device    integer NOT NULL,
    reading   integer,
    total     bigint  NOT NULL,
    sequence  integer NOT NULL
);

-- step: rows
INSERT INTO narrow
SELECT
    n,
    a % 5000,
    CASE WHEN a / 65536 % 32 > 0 THEN a / 2097152 % 2000001 - 1000000 END,
    n * 1000 + a % 997,
    n % 1000000
FROM generate_series(:first::bigint, :last::bigint) AS n
CROSS JOIN LATERAL (SELECT hashint8extended(n, 1) & 9223372036854775807 AS a) AS hashes;

-- step: keys
ALTER TABLE narrow ADD PRIMARY KEY (id);
COMMIT;

-- step: vacuum
-- Sets hint bits and freezes, so that reading never dirties a page.
VACUUM (FREEZE, ANALYZE) narrow;
