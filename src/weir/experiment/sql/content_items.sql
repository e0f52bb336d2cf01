-- content_items: 20 wide columns, the table of the throttle experiment, the same in every run.
--
--   psql -v first=1 -v last=200000 -f content_items.sql
--
-- Every value is a function of the row's number, so a row never depends on the others. The C++ side
-- (content_items.h) puts numbers in for :first and :last, runs what is between two `-- step:` lines
-- at a time, and repeats the step `rows` for one range of numbers after another.
--
-- Sizes, checked by content_items_test.cc: 700-800 B/row on disk with the long texts compressed in
-- line, 4.5-5 KB/row as CSV, 73-135 B/row as zstd Parquet. They hang on three things: a long text
-- repeats one sentence (pglz, about 12:1); there are 32 of them (zstd meets all in every page); and
-- a row is still over 2 KB once the longer text is compressed, or the other would stay plain.

-- step: table
-- Flushed at commit, or VACUUM would come too early to set hint bits.
BEGIN;
SET LOCAL synchronous_commit = on;

CREATE TYPE content_status AS ENUM ('draft', 'review', 'published', 'archived');

CREATE TABLE content_items (
    id            bigserial,
    external_id   uuid           NOT NULL,
    title         text           NOT NULL,
    body          text           NOT NULL,
    raw_html      text           NOT NULL,
    metadata      jsonb          NOT NULL,
    tags          text[],
    author_name   text           NOT NULL,
    editor_name   text,
    url           text           NOT NULL,
    category      text           NOT NULL,
    status        content_status NOT NULL,
    view_count    bigint         NOT NULL,
    like_count    integer        NOT NULL,
    price         numeric(10,2),
    rating        numeric(3,2),
    is_featured   boolean        NOT NULL,
    published_at  timestamptz,
    created_at    timestamp      NOT NULL,
    event_date    date
);

-- step: rows
-- content_words is one row of arrays, so that a pick is an array subscript. As a table it would be
-- TOASTed, and taken apart again for every row.
INSERT INTO content_items
WITH sentences (list) AS (VALUES (ARRAY[
    'The river rose overnight and the lower mill stood in water until noon.',
    'Nobody at the harbour office could say when the last barge had been counted.',
    'A second survey found the old figures too low by roughly a third.',
    'Engineers lifted the gate by two hands and the basin fell within the hour.',
    'The council will vote on the new footbridge before the summer recess.',
    'Prices at the fish market held steady in spite of the storm warning.',
    'Three villages share one pump, and it has been out of order since May.',
    'Readers wrote in to ask why the ferry still takes no cards.',
    'The archive keeps every tide table since 1871, most of them handwritten.',
    'Her grandfather had built the weir with stones from the ruined abbey.',
    'Dredging starts on Monday; the towpath stays open on weekday evenings.',
    'Eel traps were banned here long before anyone thought of counting eels.',
    'The museum lends its brass flood gauge to schools free of charge.',
    'Two kayakers were helped ashore, cold but otherwise unharmed.',
    'An inspector called the lock safe, "if not exactly quick".',
    'Most of the money went into concrete, the rest into a very long report.',
    'In der Altstadt stand das Wasser kniehoch, doch die Bäckerei blieb offen.',
    'Le maire promet une digue plus haute et des réponses plus courtes.',
    'El puente se abrió de nuevo al tráfico a las seis de la mañana.',
    'Na przystani czekano na prom dłużej niż zwykle, lecz nikt nie narzekał.',
    'Volunteers planted four hundred willows along the eastern bank.',
    'The gauge is read twice a day and disagreed with once a week.',
    'Fog delayed the mail boat, which has not been late since the war.',
    'Herons returned to the quarry pond for the first time in a decade.',
    'A leaking sluice costs the town as much water as its two pools.',
    'The night watch logged nine alarms, eight of them caused by ducks.',
    'Farmers upstream asked for a later opening of the irrigation gates.',
    'Every spring the sandbank moves, and every spring the charts do not.',
    'The bakery by the lock sells out before the first boat has passed.',
    'Student divers mapped the wreck in cold, brown and very shallow water.',
    'Insurers want the basement rule changed; tenants want it explained.',
    'The old signal house is for sale again, views included, heating not.'
])), content_words AS MATERIALIZED (
    SELECT
        (SELECT array_agg(repeat(text || E'\n', 1980 / octet_length(text)) ORDER BY number)
         FROM sentences, unnest(list) WITH ORDINALITY AS s (text, number)) AS bodies,
        (SELECT array_agg(
             repeat('<p class="story-text">' || text || E'</p>\n',
                    2300 / (octet_length(text) + 27)) ORDER BY number)
         FROM sentences, unnest(list) WITH ORDINALITY AS s (text, number)) AS pages,
        ARRAY['Flood', 'Harbour', 'Bridge', 'Ferry', 'Market', 'Lock', 'Tide', 'Mill', 'Canal',
              'Reservoir', 'Sluice', 'Quay', 'Délta', 'Dyke', 'Barge', 'Lighthouse'] AS subjects,
        ARRAY['reopens after', 'waits for', 'survives', 'loses to', 'prepares for', 'shrugs off',
              'profits from', 'is blamed for'] AS verbs,
        ARRAY['a wet spring', 'the long drought', 'new rules', 'an audit', 'heavy traffic',
              'the election', 'repairs', 'a €2m grant', 'the storm', 'late trains',
              'an old dispute', 'the heatwave', 'fresh paint', 'a change of plan', 'higher fees',
              'the 東京 delegation'] AS objects,
        ARRAY['Ana Öztürk', 'Björn Dahl', 'Chidi Okafor', 'Dáithí Ó Sé', 'Eva Novák',
              'Farid Rahmani', 'Grace Lee', 'Hélène Roux', 'Ivo Horvat', 'Jana Šimková',
              'Kenji 佐藤', 'Léa Martin', 'Maya Cohen', 'Nils Berg', 'Olga Иванова',
              'Paulo Conceição'] AS people,
        ARRAY['news', 'opinion', 'culture', 'science', 'travel', 'business', 'sport', 'local']
            AS categories,
        ARRAY['river', 'harbour', 'flood', 'ecology', 'budget', 'history', 'photo', 'interview',
              'map', 'long read', 'été', 'archive', 'live', 'weather', 'trade', 'people'] AS labels,
        ARRAY['wire', 'desk', 'freelance', 'archive'] AS origins,
        ARRAY['draft', 'review', 'published', 'published', 'published', 'published', 'published',
              'archived']::content_status[] AS states
)
SELECT
    n,
    md5('content_items ' || n)::uuid,
    headline,
    headline || ' (no. ' || n || E').\n\n' || bodies[c % 32 + 1],
    '<article class="content-item"><h1 id="' || n || '">' || subject || E'</h1>\n'
        || pages[c / 32 % 32 + 1] || '</article>',
    ('{"source": "' || origins[b % 4 + 1] || '", "words": ' || 250 + b / 4 % 150
        || ', "seo": {"score": 0.' || b / 1024 % 100 || ', "indexed": ' || (b / 8 % 8 > 0)::text
        || '}}')::jsonb,
    CASE WHEN d % 20 = 0 THEN NULL
         ELSE (ARRAY[labels[d / 32 % 16 + 1], labels[d / 512 % 16 + 1], labels[d / 8192 % 16 + 1]])
              [1:d / 131072 % 4]
    END,
    people[a % 16 + 1],
    CASE WHEN d / 1048576 % 8 < 3 THEN NULL
         WHEN d / 1048576 % 64 = 63 THEN ''
         ELSE people[d / 8388608 % 16 + 1]
    END,
    'https://example.org/' || categories[a / 16 % 8 + 1] || '/' || n || '-' || lower(subject),
    categories[a / 16 % 8 + 1],
    state,
    (b / 1048576 % 1000) * (b / 1048576 % 1000) * (b / 65536 % 16),
    (b / 1048576 % 1000)::integer,
    CASE WHEN d / 16777216 % 10 < 7 THEN (d / 268435456 % 20000)::numeric / 100 END,
    CASE WHEN a / 4096 % 10 > 0 THEN (a / 65536 % 401 + 100)::numeric / 100 END,
    a / 128 % 16 = 0,
    CASE WHEN state IN ('published', 'archived')
         THEN timestamptz '2019-01-01 00:00:00+00'
              + (n * 61 + 3600 + c / 4096 % 86400) * interval '1 s'
    END,
    timestamp '2019-01-01 00:00:00' + n * interval '61 s' + (c / 1024 % 2) * interval '0.5 s',
    CASE WHEN a / 1048576 % 5 < 2
         THEN date '2019-01-01' + (n / 1500 + a / 8388608 % 60)::integer
    END
FROM generate_series(:first::bigint, :last::bigint) AS n
CROSS JOIN content_words
CROSS JOIN LATERAL (
    SELECT hashint8extended(n, 1) & 9223372036854775807 AS a,
           hashint8extended(n, 2) & 9223372036854775807 AS b,
           hashint8extended(n, 3) & 9223372036854775807 AS c,
           hashint8extended(n, 4) & 9223372036854775807 AS d
) AS hashes
CROSS JOIN LATERAL (
    SELECT subjects[a / 256 % 16 + 1] AS subject,
           states[a / 2048 % 8 + 1] AS state
) AS picks
CROSS JOIN LATERAL (
    SELECT subject || ' ' || verbs[b / 128 % 8 + 1] || ' ' || objects[c / 128 % 16 + 1] AS headline
) AS headlines;

-- step: keys
ALTER TABLE content_items ADD PRIMARY KEY (id);
SELECT setval('content_items_id_seq', :last);
COMMIT;

-- step: vacuum
-- Sets hint bits and freezes, so that reading never dirties a page.
VACUUM (FREEZE, ANALYZE) content_items;
