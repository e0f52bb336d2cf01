-- The 18 indexes of TPC-H: every primary key and every foreign key.
CREATE INDEX pk_region_regionkey ON region (r_regionkey);
CREATE INDEX pk_nation_nationkey ON nation (n_nationkey);
CREATE INDEX fk_nation_regionkey ON nation (n_regionkey);
CREATE INDEX pk_supplier_suppkey ON supplier (s_suppkey);
CREATE INDEX fk_supplier_nationkey ON supplier (s_nationkey);
CREATE INDEX pk_part_partkey ON part (p_partkey);
CREATE INDEX pk_partsupp_partkey_suppkey ON partsupp (ps_partkey, ps_suppkey);
CREATE INDEX fk_partsupp_partkey ON partsupp (ps_partkey);
CREATE INDEX fk_partsupp_suppkey ON partsupp (ps_suppkey);
CREATE INDEX pk_customer_custkey ON customer (c_custkey);
CREATE INDEX fk_customer_nationkey ON customer (c_nationkey);
CREATE INDEX pk_orders_orderkey ON orders (o_orderkey);
CREATE INDEX fk_orders_custkey ON orders (o_custkey);
CREATE INDEX pk_lineitem_orderkey_linenumber ON lineitem (l_orderkey, l_linenumber);
CREATE INDEX fk_lineitem_orderkey ON lineitem (l_orderkey);
CREATE INDEX fk_lineitem_partkey ON lineitem (l_partkey);
CREATE INDEX fk_lineitem_suppkey ON lineitem (l_suppkey);
CREATE INDEX fk_lineitem_partsuppkey ON lineitem (l_partkey, l_suppkey);
