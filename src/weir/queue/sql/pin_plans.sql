-- A statement of the queue finds its rows through an index whatever the statistics say, and is
-- planned once.
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_bitmapscan = off;
SET jit = off
