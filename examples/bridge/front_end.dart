// A front end for `musher bridge` in Dart, with nothing but the standard library.
//
//   dart run front_end.dart "How many files are here?"
//   dart run front_end.dart --yes "Make a file."        (allows every tool)
//
// Starts the bridge, runs one turn, and asks you before a tool runs. A Flutter app does the same, with a dialog in `decide`.

import 'dart:async';
import 'dart:convert';
import 'dart:io';

typedef Json = Map<String, dynamic>;

/// One bridge process: messages go in and come out as JSON lines.
class Bridge {
  Bridge._(this._process);

  final Process _process;
  int _numbers = 0;

  static Future<Bridge> start() async {
    final program = Platform.environment['MUSHER'] ?? 'musher';
    final process = await Process.start(program, ['bridge']);
    unawaited(process.stderr.pipe(stderr));
    return Bridge._(process);
  }

  String send(String type, Json payload, {String? sessionId, String? id}) {
    final number = id ?? 'r${++_numbers}';
    final message = {
      'type': type,
      'id': number,
      if (sessionId != null) 'session_id': sessionId,
      'payload': payload,
    };
    _process.stdin.writeln(jsonEncode(message));
    return number;
  }

  Stream<Json> get messages => _process.stdout
      .transform(utf8.decoder)
      .transform(const LineSplitter())
      .map((line) => jsonDecode(line) as Json);

  Future<int> close() async {
    await _process.stdin.close();
    return _process.exitCode;
  }
}

/// Answers a question of the agent: may this tool run?
Json decide(Json request, bool allowAll) {
  print('\n[${request['tool_name']}] ${jsonEncode(request['tool_input'])}');
  if (!allowAll) {
    stdout.write('allow? [y/N] ');
    if (stdin.readLineSync()?.trim().toLowerCase() != 'y') {
      return {'behavior': 'deny', 'message': 'The user said no.'};
    }
  }
  return {'behavior': 'allow'};
}

/// Prints what the agent says. Returns whether the turn is over.
bool show(Json message) {
  if (message['type'] == 'assistant') {
    for (final block in message['message']['content'] as List) {
      if (block['type'] == 'text') print(block['text']);
      if (block['type'] == 'tool_use') print('-> ${block['name']}');
    }
  }
  if (message['type'] != 'result') return false;
  print('-- done: ${message['subtype']}');
  return true;
}

Future<void> main(List<String> words) async {
  final allowAll = words.contains('--yes');
  final prompt = words.where((word) => word != '--yes').join(' ');
  final bridge = await Bridge.start();
  final create = bridge.send('session.create', {
    'prompt': prompt,
    'cwd': Directory.current.path,
    'options': <String, dynamic>{},
  });
  await for (final message in bridge.messages) {
    final payload = message['payload'] as Json;
    final type = message['type'];
    if (type == 'session.created') print('-- session ${payload['sdk_session_id']}');
    if (type == 'sdk.message' && show(payload)) break;
    if (type == 'callback.request') {
      final answer = payload['callback_type'] == 'can_use_tool' ? decide(payload, allowAll) : <String, dynamic>{};
      bridge.send('callback.response', answer, sessionId: message['session_id'] as String, id: message['id'] as String);
    }
    if (type == 'error') {
      stderr.writeln('error ${payload['code']}: ${payload['message']}');
      // an error that is no reply, or the reply to our first request, ends the session
      if (message['id'] == null || message['id'] == create) exitCode = 1;
      if (exitCode != 0) break;
    }
  }
  await bridge.close();
}
