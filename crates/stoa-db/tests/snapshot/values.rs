//! Every value survives, from each engine to each.

use stoa_db::{ConstraintKind, DbError, Engine, OwnedValue, Snapshot, SnapshotError, params};

use crate::store::{Store, engines, insert_pair, pairs};

fn odd_texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "",
        " ",
        "null",
        "\"quotes\" and \\ backslashes",
        "line\nfeed\r\ntab\t",
        "\u{1}\u{1f}\u{7f}\u{85}",
        "\u{2028}\u{2029}",
        "Grüße, Zażółć",
        "e\u{301} is not é",
        "👩‍👩‍👧‍👦 🏳️‍🌈",
        "\u{202e}right to left",
        "\u{feff}mark",
        "\u{fffd}\u{ffff}\u{10ffff}",
        "漢字",
        "[1,2]\n{\"b\":\"AA==\"}",
    ]
    .map(str::to_owned)
    .to_vec();
    texts.push("x".repeat(200_000));
    texts
}

/// Numbers whose digits are hard to get right, and a spread over all others.
fn odd_reals() -> Vec<f64> {
    let mut reals = vec![
        0.0,
        1.0,
        -1.5,
        0.1,
        1.0 / 3.0,
        1e15,
        1e16,
        1e21,
        1e300,
        -2.5e-300,
        5e-324,
        2.225_073_858_507_201e-308,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        9_007_199_254_740_993.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    let mut bits: u64 = 0x9e37_79b9_7f4a_7c15;
    while reals.len() < 1000 {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let real = f64::from_bits(bits ^ (bits >> 29));
        if !real.is_nan() {
            reals.push(real);
        }
    }
    reals
}

async fn fill_with_all_kinds(store: &Store) {
    let mut rows: Vec<[OwnedValue; 4]> = Vec::new();
    let null = || OwnedValue::Null;
    rows.push([null(), null(), null(), null()]);
    for number in [0, 1, -1, i64::MAX, i64::MIN, 9_007_199_254_740_993] {
        rows.push([OwnedValue::Integer(number), null(), null(), null()]);
    }
    for real in odd_reals() {
        rows.push([null(), OwnedValue::Real(real), null(), null()]);
    }
    for text in odd_texts() {
        rows.push([null(), null(), OwnedValue::Text(text), null()]);
    }
    for bytes in [vec![], vec![0], (0..=255).collect(), vec![0xff; 300_001], b"plain".to_vec()] {
        rows.push([null(), null(), null(), OwnedValue::Blob(bytes)]);
    }
    store
        .write(move |tx| {
            for [whole, fraction, words, bytes] in &rows {
                tx.execute(
                    "insert into samples (whole, fraction, words, bytes) values ($1, $2, $3, $4)",
                    params![whole, fraction, words, bytes],
                )?;
            }
            // In no order of any kind; upper and lower case sort by byte, not by language.
            for (index, word) in ["b", "B", "a", "Z", "é", "_", "zz", "", "ä", "10", "9"].iter().enumerate() {
                for number in [5_i64, -5, 30] {
                    let sql = "insert into \"odd \"\"name\" (word, number, \"select\") values ($1, $2, $3)";
                    // The key does not tell "b" from "B" on SQLite.
                    let number = number * 100 + i64::try_from(index).unwrap_or(0);
                    tx.execute(sql, params![word, number, word])?;
                }
                let number = (index % 2 == 0).then_some(7_i64);
                for _ in 0..2 {
                    tx.execute("insert into loose (word, number) values ($1, $2)", params![word, number])?;
                }
                tx.execute("insert into loose (number, fraction) values ($1, $2)", params![number, 0.5])?;
            }
            Ok::<_, DbError>(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn every_value_goes_from_each_engine_to_each() {
    for (from, to) in pairs() {
        let source = Store::new(from);
        fill_with_all_kinds(&source).await;
        let dump = source.dump_to_memory().await;
        assert_eq!(dump.manifest.engine, from);
        assert_eq!(dump.manifest.schema_version, 1);
        dump.verify().unwrap();

        let copy = Store::restored(to, &dump).await;
        let again = copy.dump_to_memory().await;
        assert_eq!(again.manifest.engine, to);
        dump.assert_same(&again);

        // The reals are the same bits, not just the same text.
        let reals: Vec<f64> = copy
            .read(|tx| {
                let sql = "select fraction from samples where fraction is not null order by id";
                tx.query(sql, &[], |row| row.get("fraction"))
            })
            .await
            .unwrap();
        let bits = |reals: &[f64]| reals.iter().map(|real| real.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&reals), bits(&odd_reals()));
        // A computed column is not in the dump, and is there all the same.
        assert_eq!(copy.number("select cast(sum(size) as bigint) from samples where words = 'null'").await, 4);
    }
}

#[tokio::test]
async fn the_engines_write_the_same_bytes() {
    let mut dumps = Vec::new();
    for engine in engines() {
        let store = Store::new(engine);
        // A server sorts as its users' language does, if it was set up so.
        let icu = "select count(*) from pg_collation where collname = 'und-x-icu'";
        if engine == Engine::Postgres && store.number(icu).await > 0 {
            store.run("alter table \"odd \"\"name\" alter column word type text collate \"und-x-icu\"").await;
        }
        fill_with_all_kinds(&store).await;
        dumps.push(store.dump_to_memory().await);
        assert_eq!(store.dump_to_memory().await.memory, dumps[dumps.len() - 1].memory, "a dump can be repeated");
    }
    for dump in &dumps {
        dumps[0].assert_same(dump);
        assert!(dump.text("samples").starts_with("[1,null,null,null,null]\n[2,0,null,null,null]\n"));
        assert!(dump.text("samples").contains(",null,{\"r\":0.1},null,null]\n"));
        assert!(dump.text("samples").contains(",null,{\"r\":\"-inf\"},null,null]\n"));
        assert!(dump.text("samples").contains(",null,null,null,{\"b\":\"cGxhaW4=\"}]\n"));
        let words = dump.text("odd \"name");
        assert!(words.find("[\"B\"") < words.find("[\"_\"") && words.find("[\"_\"") < words.find("[\"a\""));
    }
}

#[tokio::test]
async fn the_manifest_is_json() {
    let store = Store::new(Engine::Sqlite);
    let manifest = store.dump_to_memory().await.manifest;
    let json = serde_json::to_value(&manifest).unwrap();
    assert_eq!(json["format"], 1);
    assert_eq!(json["engine"], "sqlite");
    let tables = json["tables"].as_array().unwrap();
    let position = |name| tables.iter().position(|table| table["name"] == name).unwrap();
    assert!(position("lefts") < position("rights"));
    let principals = &tables[position("principals")];
    assert_eq!(principals["columns"], serde_json::json!(["id", "handle", "owner_id"]));
    assert_eq!(principals["rows"], 1);
    assert_eq!(principals["next_id"], 2);
    assert!(tables[position("loose")]["next_id"].is_null());
    assert_eq!(serde_json::from_value::<Snapshot>(json).unwrap(), manifest);
}

#[tokio::test]
async fn a_deleted_id_is_not_given_out_again() {
    for (from, to) in pairs() {
        let source = Store::new(from);
        for _ in 0..5 {
            source.write(insert_pair).await.unwrap();
        }
        source.run("delete from rights where id >= 4").await;
        source.run("delete from log").await;
        // Brought its own id, which PostgreSQL does not count.
        source.run("insert into principals (id, handle) values (90, 'far')").await;
        let mut dump = source.dump_to_memory().await;
        assert_eq!(dump.entry("rights").next_id, Some(6));
        assert_eq!(dump.entry("log").next_id, Some(6));
        assert_eq!(dump.entry("principals").next_id, Some(91));
        assert_eq!(dump.entry("samples").next_id, Some(1));

        let copy = Store::restored(to, &dump).await;
        dump.assert_same(&copy.dump_to_memory().await);
        for (sql, expected) in [
            ("insert into principals (handle) values ('new') returning id", 91),
            ("insert into rights (left_id, tag) values (5, 'new') returning id", 6),
            ("insert into samples (whole) values (1) returning id", 1),
            ("insert into lefts (tag) values ('new') returning id", 6),
        ] {
            let id: Result<i64, DbError> = copy.write(move |tx| tx.query_one(sql, &[], |row| row.get("id"))).await;
            assert_eq!(id.unwrap(), expected, "{sql}");
        }
        // The trigger was silent during the load and speaks again.
        assert_eq!(copy.number("select max(id) from log where left_id = 6").await, 6);
        assert_eq!(copy.number("select count(*) from log").await, 1);
    }
}

#[tokio::test]
async fn rows_may_refer_to_later_rows_of_their_table() {
    for (from, to) in pairs() {
        let source = Store::new(from);
        source
            .write(|tx| {
                for id in 2..3000_i64 {
                    tx.execute("insert into principals (id, handle) values ($1, $2)", params![id, format!("p{id}")])?;
                }
                // Each belongs to a later one, the last to itself.
                tx.execute("update principals set owner_id = case when id = 2999 then id else id + 1 end", &[])
            })
            .await
            .unwrap();
        let dump = source.dump_to_memory().await;
        let copy = Store::restored(to, &dump).await;
        dump.assert_same(&copy.dump_to_memory().await);
        // The reference is still enforced.
        let refused = copy.write(|tx| tx.execute("update principals set owner_id = 5000 where id = 7", &[])).await;
        let kind = ConstraintKind::ForeignKey;
        assert!(matches!(refused, Err(DbError::Constraint { kind: found, .. }) if found == kind), "{refused:?}");
    }
}

#[tokio::test]
async fn columns_may_come_in_another_order() {
    for engine in engines() {
        let source = Store::new(engine);
        source.write(insert_pair).await.unwrap();
        let good = source.dump_to_memory().await;
        let mut turned = good.clone();
        turned.entry("lefts").columns.reverse();
        turned.forge("lefts", "[\"pair\",1]\n");
        good.assert_same(&Store::restored(engine, &turned).await.dump_to_memory().await);
    }
}

#[tokio::test]
async fn numbers_beyond_reals() {
    if !engines().contains(&Engine::Postgres) {
        return;
    }
    let source = Store::new(Engine::Postgres);
    source.run("insert into samples (fraction) values ('NaN'), ('Infinity'), (-0.0::float8), ('-0')").await;
    let dump = source.dump_to_memory().await;
    assert!(dump.text("samples").contains("{\"r\":\"NaN\"}"));
    dump.assert_same(&Store::restored(Engine::Postgres, &dump).await.dump_to_memory().await);
    // SQLite would make a null of it.
    let error = Store::new(Engine::Sqlite).load_dump(&dump).await.unwrap_err();
    assert!(matches!(&error, SnapshotError::Table { source: DbError::Decode { .. }, .. }), "{error}");
}
