use super::*;
use arrow_array::{Array, ArrayRef, BinaryArray, FixedSizeBinaryArray, Int32Array, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;

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
async fn other_arrow_is_cut_off() {
    let bulk = Bulk::new().await;
    let good: ArrayRef = Arc::new(BinaryArray::from_iter_values([[7; 32]]));
    let short: ArrayRef = Arc::new(BinaryArray::from_iter_values([[7; 31]]));
    let null: ArrayRef = Arc::new(BinaryArray::from_iter([None::<&[u8]>]));
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let whole = stream_of("digest", vec![Arc::clone(&good)]);
    for body in [
        stream_of("digests", vec![good]),
        stream_of("digest", vec![short]),
        stream_of("digest", vec![null]),
        stream_of("digest", vec![numbers]),
        whole[..whole.len() / 2].to_vec(),
        b"not arrow at all, but long enough for a header".to_vec(),
        [&[255; 4][..], &[255, 255, 255, 127], &[0; 64]].concat(),
    ] {
        let answer = bulk.post(QUERY, TOKEN, ARROW, body).await;
        assert!(answer.body.is_empty(), "the body breaks off");
    }
}
