use super::*;
use arrow_array::{Array, ArrayRef, BinaryArray, FixedSizeBinaryArray, Int32Array, RecordBatch};
use arrow_ipc::CompressionType;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};

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
        ([&whole[..], b"more"].concat(), "after the end"),
    ] {
        let answer = bulk.post(QUERY, TOKEN, ARROW, body).await;
        assert_eq!(answer.status, 400, "{reason}");
        let error = answer.json()["error"].as_str().expect("a text").to_owned();
        assert!(error.contains(reason), "{error}, not {reason}");
    }
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

/// What is wrong after the first signatures cuts the answer off.
#[tokio::test]
async fn an_answer_that_has_begun_is_cut_off() {
    let bulk = Bulk::new().await;
    let good: ArrayRef = Arc::new(BinaryArray::from_iter_values([[7; 32]]));
    let body = stream_of("digest", vec![good]);
    // Without the end mark, another message may follow.
    let begun = Bytes::from(body[..body.len() - 8].to_vec());
    let bad = Bytes::from_static(&[
        255, 255, 255, 255, 16, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9,
    ]);
    let pieces = stream::unfold(0, move |step| {
        let piece = [begun.clone(), bad.clone()].into_iter().nth(step);
        async move {
            // The first signature is there long before the second piece comes.
            tokio::time::sleep(Duration::from_millis(1500 * step as u64)).await;
            Some((Ok::<_, std::io::Error>(piece?), step + 1))
        }
    });
    let answer = bulk.post(QUERY, TOKEN, ARROW, Body::from_stream(pieces)).await;
    assert_eq!((answer.status.as_u16(), answer.body.len()), (200, 0), "the body breaks off");
}
