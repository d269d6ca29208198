//! Requests to the client's editor: their responses, their withdrawal, and the end of the connection.

use musher_rpc::{Connection, memory};
use serde_json::json;

use super::*;

fn requests() -> (Connection, Arc<EditorRequests>, Arc<dyn Editor>) {
    let (client, server) = memory();
    let requests = EditorRequests::new(server.outgoing);
    let all = EditorCapabilities { read_text_file: Some(true), ..EditorCapabilities::default() };
    let editor = requests.editor(&all);
    (client, requests, editor)
}

async fn next_request(client: &mut Connection) -> Request {
    match client.incoming.recv().await.unwrap() {
        Frame::Request(request) => request,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn response_to_a_request_is_its_answer() {
    let (mut client, requests, editor) = requests();
    assert_eq!(editor.offers(), EditorOffers { reads: true, writes: false, terminals: false });
    let reading = tokio::spawn(async move { editor.read_text("/w/a.rs".into()).await });
    let request = next_request(&mut client).await;
    assert_eq!(&*request.method, "musher.read_text_file");
    assert_eq!(request.params.unwrap().to_value().unwrap(), json!({"path": "/w/a.rs"}));
    let response = Response::new(request.id, Ok(Json::from(json!({"text": "fn a() {}"}))));
    assert!(requests.answered(&response));
    assert!(!requests.answered(&response), "a second response is none to this request");
    assert_eq!(reading.await.unwrap(), Ok("fn a() {}".to_owned()));
}

#[tokio::test]
async fn response_of_the_wrong_shape_or_with_an_error_is_a_refusal() {
    let (mut client, requests, editor) = requests();
    for outcome in
        [Ok(Json::from(json!({"text": 7}))), Err(RpcError::new(RpcError::METHOD_NOT_FOUND, "Unknown method"))]
    {
        let editor = Arc::clone(&editor);
        let reading = tokio::spawn(async move { editor.read_text("/w/a.rs".into()).await });
        let request = next_request(&mut client).await;
        assert!(requests.answered(&Response::new(request.id, outcome)));
        assert!(reading.await.unwrap().is_err());
    }
}

#[tokio::test]
async fn dropped_answer_withdraws_its_request() {
    let (mut client, requests, editor) = requests();
    let waiting = tokio::spawn(async move { editor.terminal_exit("t".to_owned()).await });
    let request = next_request(&mut client).await;
    waiting.abort();
    let Frame::Notification(withdrawn) = client.incoming.recv().await.unwrap() else {
        panic!("no notification")
    };
    assert_eq!(&*withdrawn.method, CANCEL_REQUEST);
    let expected = json!({"requestId": request.id.as_str().unwrap()});
    assert_eq!(withdrawn.params.unwrap().to_value().unwrap(), expected);
    assert!(!requests.answered(&Response::new(request.id, Ok(Json::empty_object()))));
}

#[tokio::test]
async fn end_of_the_connection_ends_what_waits() {
    let (mut client, requests, editor) = requests();
    let held = Arc::clone(&editor);
    let waiting = tokio::spawn(async move { held.terminal_exit("t".to_owned()).await });
    next_request(&mut client).await;
    drop(requests);
    assert_eq!(waiting.await.unwrap(), Err("the client is gone".to_owned()));
    assert!(editor.read_text("/w/a.rs".into()).await.is_err());
}
