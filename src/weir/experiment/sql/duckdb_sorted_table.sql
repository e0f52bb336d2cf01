-- The peer of an index: the rows of one table, sorted, in a DuckDB database file. The words in
-- braces are filled in. The settings come first; the clock is around the last statement.
SET memory_limit = '{memory_bytes} bytes';
SET threads = {threads};
SET temp_directory = '{scratch}/duckdb-spill';
SET preserve_insertion_order = false;
CREATE TABLE sorted AS SELECT * FROM read_parquet('{files}/lineitem/*.parquet') ORDER BY {columns};
