use super::*;
use crate::body::Holder;
use arrow_array::{
    Array, ArrayRef, BinaryArray, FixedSizeBinaryArray, Int32Array, LargeBinaryArray, RecordBatch,
};
use arrow_ipc::CompressionType;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use modmill_testing::mutations::{mutate, rounds};
use modmill_testing::rng::Rng;

/// An Arrow stream with one column.
fn stream_of(name: &str, batches: Vec<ArrayRef>) -> Vec<u8> {
    let batches: Vec<_> = batches
        .into_iter()
        .map(|column| RecordBatch::try_from_iter([(name, column)]).expect("a batch"))
        .collect();
    let mut writer = StreamWriter::try_new(Vec::new(), &batches[0].schema()).expect("a writer");
    batches.iter().for_each(|batch| writer.write(batch).expect("a batch"));
    writer.finish().expect("an end");
    writer.into_inner().expect("bytes")
}

const QUERY: &str = "key=transit/k&scheme=pkcs1v15-sha256";

#[tokio::test]
async fn arrow_is_answered_by_arrow() {
    let bulk = Bulk::new().await;
    let digests: Vec<Vec<u8>> =
        (0..3u8).map(|item| Hash::Sha256.digest(&[&[item]]).as_ref().to_vec()).collect();
    let binary: ArrayRef = Arc::new(BinaryArray::from_iter_values(&digests));
    let fixed: ArrayRef = Arc::new(FixedSizeBinaryArray::try_from_iter(digests.iter()).expect("digests"));
    for column in [binary, fixed] {
        let body = stream_of("digest", vec![Arc::clone(&column), column]);
        let answer = bulk.post(QUERY, TOKEN, ARROW, body).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.headers[CONTENT_TYPE]),
            (200, &HeaderValue::from_static(ARROW))
        );
        let reader = StreamReader::try_new(&answer.body[..], None).expect("a stream");
        let mut signatures = Vec::new();
        for batch in reader {
            let batch = batch.expect("a batch");
            let column = batch.column_by_name("signature").expect("a column");
            assert_eq!(column.null_count(), 0);
            let column = column.as_any().downcast_ref::<FixedSizeBinaryArray>().expect("binary");
            signatures.extend(column.iter().flatten().map(<[u8]>::to_vec));
        }
        let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
        let twice = [digests.concat(), digests.concat()].concat();
        assert_eq!(verdicts(&bulk, scheme, &twice, &signatures), 6);
    }
}

#[tokio::test]
async fn other_arrow_is_refused_with_a_text() {
    let bulk = Bulk::new().await;
    let good: ArrayRef = Arc::new(BinaryArray::from_iter_values([[7; 32]]));
    let short: ArrayRef = Arc::new(BinaryArray::from_iter_values([[7; 31]]));
    let null: ArrayRef = Arc::new(BinaryArray::from_iter([None::<&[u8]>]));
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let whole = stream_of("digest", vec![Arc::clone(&good)]);
    for (body, reason) in [
        (stream_of("digests", vec![good]), "no column `digest`"),
        (stream_of("digest", vec![short]), "31 bytes instead of 32"),
        (stream_of("digest", vec![null]), "is null"),
        (stream_of("digest", vec![numbers]), "not binary"),
        (compressed(), "compressed batches"),
        (whole[..whole.len() / 2].to_vec(), "ends within a message"),
        (b"not arrow at all, but long enough for a header".to_vec(), "header of"),
        ([&[255; 4][..], &[255, 255, 255, 127], &[0; 64]].concat(), "at most"),
    ] {
        let answer = bulk.post(QUERY, TOKEN, ARROW, body).await;
        assert_eq!(answer.status, 400, "{reason}");
        let error = answer.json()["error"].as_str().expect("a text").to_owned();
        assert!(error.contains(reason), "{error}, not {reason}");
    }
}

/// Record batches come out of the memory of bodies, of which a principal alone gets half.
#[tokio::test]
async fn record_batches_have_a_share_of_memory() {
    let bulk = Bulk::new().await;
    let digests: ArrayRef =
        Arc::new(FixedSizeBinaryArray::try_from_iter([[7u8; 32]; 2000].iter()).expect("digests"));
    let body = stream_of("digest", vec![digests]);
    let mut other_requests = bulk.service.bodies.open(Holder::Principal("name-A".to_owned()));
    for (held, status) in [(1 << 20, 200), (128 << 20, 503)] {
        assert!(other_requests.grow_to(held));
        let answer = bulk.post(QUERY, TOKEN, ARROW, body.clone()).await;
        assert_eq!(answer.status.as_u16(), status);
        assert!(status == 200 || answer.json()["error"].as_str().expect("a text").contains("memory"));
    }
    drop(other_requests);
    assert_eq!(bulk.service.bodies.held(), 0);
}

/// A stream with a compressed batch that says that it has 64 TiB.
fn compressed() -> Vec<u8> {
    let column: ArrayRef =
        Arc::new(FixedSizeBinaryArray::try_from_iter([[0u8; 32]; 1000].iter()).expect("digests"));
    let batch = RecordBatch::try_from_iter([("digest", column)]).expect("a batch");
    let options =
        IpcWriteOptions::default().try_with_compression(Some(CompressionType::ZSTD)).expect("options");
    let mut writer =
        StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).expect("a writer");
    writer.write(&batch).expect("a batch");
    let mut body = writer.into_inner().expect("bytes");
    let length = body.windows(8).rposition(|eight| eight == 32_000i64.to_le_bytes()).expect("a length");
    body[length..length + 8].copy_from_slice(&(1i64 << 46).to_le_bytes());
    body
}

/// An error after the first signatures cuts the answer off.
#[tokio::test]
async fn an_answer_that_has_begun_is_cut_off() {
    let bulk = Bulk::new().await;
    let good: ArrayRef = Arc::new(BinaryArray::from_iter_values([[7; 32]]));
    let body = stream_of("digest", vec![good]);
    // The first bytes stand after the end mark, and the second ones replace it.
    for body in [
        [&body[..], b"more"].concat(),
        [&body[..body.len() - 8], &[255, 255, 255, 255, 8, 0, 0, 0], &[9; 8]].concat(),
    ] {
        let answer = bulk.post(QUERY, TOKEN, ARROW, body).await;
        assert_eq!((answer.status.as_u16(), answer.body.len()), (200, 0), "the body breaks off");
    }
}

/// Mutated streams are answered or refused: no task panics, and no answer is an error of the service.
/// `MODMILL_MUTATIONS=20000` makes more of them.
#[tokio::test]
async fn mutated_streams_are_answered_or_refused() {
    let bulk = Bulk::new().await;
    let digests = [[7u8; 32], [8; 32], [9; 32]];
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3]));
    let columns: [ArrayRef; 3] = [
        Arc::new(BinaryArray::from_iter_values(digests)),
        Arc::new(LargeBinaryArray::from_iter_values(digests)),
        Arc::new(FixedSizeBinaryArray::try_from_iter(digests.iter()).expect("digests")),
    ];
    let mut samples = vec![compressed()];
    for column in columns {
        let batch =
            RecordBatch::try_from_iter([("n", Arc::clone(&numbers)), ("digest", column)]).expect("a batch");
        let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).expect("a writer");
        (0..2).for_each(|_| writer.write(&batch).expect("a batch"));
        samples.push(writer.into_inner().expect("bytes"));
    }
    let mut random = Rng::new(2);
    let (mut answered, count) = (0, rounds(300));
    for round in 0..count {
        let body = mutate(&samples[random.below(samples.len())], &mut random);
        let answer = bulk.post(QUERY, TOKEN, ARROW, body.clone()).await;
        match answer.status.as_u16() {
            200 => answered += 1,
            400 => assert!(answer.json()["error"].is_string()),
            other => panic!("status {other} in round {round}: {body:?}"),
        }
    }
    println!("{count} streams: {answered} answered");
    assert!(answered < count, "mutations that change nothing test nothing");
}
