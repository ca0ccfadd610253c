//! What is damaged, or does not fit the database, changes nothing.

use stoa_db::{ConstraintKind, DbError, Engine, SnapshotError};

use crate::store::{Dump, Memory, Store, engines, insert_pair};

#[tokio::test]
async fn damaged_data_is_refused() {
    let source = Store::new(Engine::Sqlite);
    for _ in 0..50 {
        source.write(insert_pair).await.unwrap();
    }
    let good = source.dump_to_memory().await;
    let lines = good.text("lefts").to_owned();
    let first = lines.lines().next().unwrap().to_owned();

    let damaged = |change: &dyn Fn(&mut Dump)| {
        let mut dump = good.clone();
        change(&mut dump);
        dump
    };
    let cases: Vec<(&str, Dump)> = vec![
        ("flipped bit", damaged(&|dump| dump.bytes_mut("lefts")[30] ^= 1)),
        ("flipped high bit", damaged(&|dump| dump.bytes_mut("lefts")[6] ^= 0x80)),
        ("missing row", damaged(&|dump| *dump.bytes_mut("lefts") = lines[first.len() + 1..].into())),
        (
            "missing last row",
            damaged(&|dump| dump.bytes_mut("lefts").truncate(lines.trim_end().rfind('\n').unwrap() + 1)),
        ),
        ("truncated", damaged(&|dump| dump.bytes_mut("lefts").truncate(lines.len() - 5))),
        ("last byte missing", damaged(&|dump| dump.bytes_mut("lefts").truncate(lines.len() - 1))),
        ("empty", damaged(&|dump| dump.bytes_mut("lefts").clear())),
        ("row twice", damaged(&|dump| dump.bytes_mut("lefts").extend_from_slice(first.as_bytes()))),
        ("empty line", damaged(&|dump| dump.bytes_mut("lefts").push(b'\n'))),
        (
            "swapped rows",
            damaged(&|dump| {
                let rest = &lines[first.len() + 1..];
                *dump.bytes_mut("lefts") = format!("{rest}{first}\n").into();
            }),
        ),
        ("extra column", damaged(&|dump| dump.forge("lefts", &lines.replace("]", ",1]")))),
        ("missing column", damaged(&|dump| dump.forge("lefts", &lines.replace(",\"pair\"", "")))),
        ("not an array", damaged(&|dump| dump.forge("lefts", "{\"id\":1}\n"))),
        ("two values on a line", damaged(&|dump| dump.forge("lefts", "[1,\"a\"] [2,\"b\"]\n"))),
        ("fraction", damaged(&|dump| dump.forge("lefts", "[1.5,\"a\"]\n"))),
        ("too large", damaged(&|dump| dump.forge("lefts", "[9223372036854775808,\"a\"]\n"))),
        ("bad base64", damaged(&|dump| dump.forge("lefts", "[1,{\"b\":\"?\"}]\n"))),
        ("bad real", damaged(&|dump| dump.forge("lefts", "[1,{\"r\":\"many\"}]\n"))),
        ("endless real", damaged(&|dump| dump.forge("lefts", "[1,{\"r\":1e999}]\n"))),
        ("unknown kind", damaged(&|dump| dump.forge("lefts", "[1,{\"x\":1}]\n"))),
        ("two kinds", damaged(&|dump| dump.forge("lefts", "[1,{\"r\":1,\"b\":\"\"}]\n"))),
        ("boolean", damaged(&|dump| dump.forge("lefts", "[1,true]\n"))),
        ("row count", damaged(&|dump| dump.entry("lefts").rows += 1)),
        ("checksum", damaged(&|dump| dump.entry("lefts").sha256.replace_range(..2, "zz"))),
    ];
    for (name, dump) in &cases {
        let error = dump.verify().expect_err(name);
        assert!(matches!(&error, SnapshotError::Damaged { table, .. } if table == "lefts"), "{name}: {error}");
    }
    let unknown = good.manifest.verify("unknown", &b""[..]);
    assert!(matches!(unknown, Err(SnapshotError::Schema(_))), "{unknown:?}");
    let newer = damaged(&|dump| dump.manifest.format = 2);
    assert!(matches!(newer.verify(), Err(SnapshotError::Format(2))));

    // What verify refuses does not get in either, and leaves the database as it was.
    for engine in engines() {
        let target = Store::new(engine);
        let before = target.dump_to_memory().await;
        for (name, dump) in &cases {
            let error = target.load_dump(dump).await.expect_err(name);
            assert!(matches!(&error, SnapshotError::Damaged { table, .. } if table == "lefts"), "{name}: {error}");
        }
        assert!(matches!(target.load_dump(&newer).await, Err(SnapshotError::Format(2))));
        before.assert_same(&target.dump_to_memory().await);
        // The failures held on to nothing: ids begin where they did, and the good one gets in.
        target.write(insert_pair).await.unwrap();
        assert_eq!(target.number("select max(id) from lefts").await, 1);
        good.assert_same(&Store::restored(engine, &good).await.dump_to_memory().await);
    }
}

#[tokio::test]
async fn what_does_not_fit_the_database_is_refused() {
    let source = Store::new(Engine::Sqlite);
    source.write(insert_pair).await.unwrap();
    let good = source.dump_to_memory().await;
    let changed = |change: &dyn Fn(&mut Dump)| {
        let mut dump = good.clone();
        change(&mut dump);
        dump
    };
    let misfits: Vec<(&str, Dump)> = vec![
        ("unknown table", changed(&|dump| dump.entry("loose").name = "unknown".to_owned())),
        ("missing table", changed(&|dump| dump.manifest.tables.retain(|table| table.name != "loose"))),
        (
            "table twice",
            changed(&|dump| {
                let twice = dump.entry("loose").clone();
                dump.manifest.tables.push(twice);
            }),
        ),
        ("unknown column", changed(&|dump| dump.entry("loose").columns[0] = "unknown".to_owned())),
        ("extra column", changed(&|dump| dump.entry("loose").columns.push("unknown".to_owned()))),
        ("column twice", changed(&|dump| dump.entry("loose").columns[0] = "number".to_owned())),
        ("one more column twice", changed(&|dump| dump.entry("loose").columns.push("number".to_owned()))),
        ("no numbers", changed(&|dump| dump.entry("lefts").next_id = None)),
        ("numbers", changed(&|dump| dump.entry("loose").next_id = Some(1))),
    ];
    for engine in engines() {
        let target = Store::new(engine);
        let before = target.dump_to_memory().await;
        for (name, dump) in &misfits {
            let error = target.load_dump(dump).await.expect_err(name);
            assert!(matches!(error, SnapshotError::Schema(_)), "{name}: {error}");
        }
        let other = changed(&|dump| dump.manifest.schema_version = 2);
        let error = target.load_dump(&other).await.unwrap_err();
        assert!(matches!(error, SnapshotError::SchemaVersion { snapshot: 2, database: 1 }), "{error}");
        let later = Store::at(engine, 2);
        let error = later.load_dump(&good).await.unwrap_err();
        assert!(matches!(error, SnapshotError::SchemaVersion { snapshot: 1, database: 2 }), "{error}");

        let constraint = |dump: &Dump, kind: ConstraintKind, table: &'static str| {
            let (load, kind) = (target.load(dump.manifest.clone(), dump.memory.clone()), kind);
            async move {
                let error = load.await.unwrap_err();
                let SnapshotError::Table { table: found, source } = &error else { panic!("{error:?}") };
                assert_eq!(found, table, "{error}");
                assert!(matches!(source, DbError::Constraint { kind: found, .. } if *found == kind), "{error}");
            }
        };
        let dangling = changed(&|dump| dump.forge("lefts", ""));
        constraint(&dangling, ConstraintKind::ForeignKey, "rights").await;
        let dangling = changed(&|dump| dump.forge("principals", "[1,\"system\",null]\n[2,\"lost\",77]\n"));
        constraint(&dangling, ConstraintKind::ForeignKey, "principals").await;
        let twice = changed(&|dump| dump.forge("lefts", "[1,\"a\"]\n[1,\"b\"]\n"));
        constraint(&twice, ConstraintKind::Unique, "lefts").await;
        let many: String = (3..50_000).map(|id| format!("[{id},\"many\"]\n")).collect();
        let early = changed(&|dump| dump.forge("lefts", &format!("[1,\"a\"]\n[1,\"b\"]\n{many}")));
        constraint(&early, ConstraintKind::Unique, "lefts").await;
        let null = changed(&|dump| dump.forge("lefts", "[1,null]\n"));
        constraint(&null, ConstraintKind::NotNull, "lefts").await;
        // Eight letters are the bytes of some integer.
        for (table, lines) in [
            ("lefts", "[\"eight ch\",\"a\"]\n"),
            ("lefts", "[{\"r\":1.5},\"a\"]\n"),
            ("lefts", "[1,{\"b\":\"\"}]\n"),
            ("samples", "[1,null,\"x\",null,null]\n"),
            ("samples", "[1,null,null,null,\"x\"]\n"),
        ] {
            let wrong = changed(&|dump| dump.forge(table, lines));
            let error = target.load_dump(&wrong).await.unwrap_err();
            assert!(matches!(&error, SnapshotError::Table { table: found, .. } if found == table), "{lines}: {error}");
        }
        let error = target.load(good.manifest.clone(), Memory::default()).await.unwrap_err();
        assert!(matches!(error, SnapshotError::Io { .. }), "{error}");
        before.assert_same(&target.dump_to_memory().await);
    }
}

#[tokio::test]
async fn a_database_in_use_is_not_overwritten() {
    for engine in engines() {
        let source = Store::new(engine);
        let dump = source.dump_to_memory().await;
        source.run("insert into principals (handle) values ('ada')").await;
        let error = source.load_dump(&dump).await.unwrap_err();
        assert!(matches!(&error, SnapshotError::NotEmpty(table) if table == "principals"), "{error}");
        assert_eq!(source.number("select count(*) from principals").await, 2);

        // A second load finds the rows of the first.
        let copy = Store::restored(engine, &source.dump_to_memory().await).await;
        assert!(matches!(copy.load_dump(&dump).await, Err(SnapshotError::NotEmpty(_))));
    }
}
