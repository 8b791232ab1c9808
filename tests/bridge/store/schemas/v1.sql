-- a record of schema 1 as the program wrote it
BEGIN TRANSACTION;
CREATE TABLE events (
    seq  INTEGER PRIMARY KEY AUTOINCREMENT,
    run  TEXT NOT NULL REFERENCES runs(id),
    time REAL NOT NULL,
    type TEXT NOT NULL,
    body TEXT NOT NULL
);
INSERT INTO "events" VALUES(1,'r-20260921-141320-aaaaaa',1790000000.0,'run_started','{"v":1,"type":"run_started","run":"r-20260921-141320-aaaaaa","time":1790000000.0,"task":"turn off Wi-Fi, 关掉无线网","device":"virtual-1","provider":"demo","model":"demo-rules","protocol":"ctl-heredoc"}');
INSERT INTO "events" VALUES(2,'r-20260921-141320-aaaaaa',1790000001.0,'notice','{"v":1,"type":"notice","run":"r-20260921-141320-aaaaaa","time":1790000001.0,"turn":0,"text":"phone virtual-1"}');
INSERT INTO "events" VALUES(3,'r-20260921-141320-aaaaaa',1790000002.0,'response_started','{"v":1,"type":"response_started","run":"r-20260921-141320-aaaaaa","time":1790000002.0,"turn":1}');
INSERT INTO "events" VALUES(4,'r-20260921-141320-aaaaaa',1790000003.0,'assistant_text','{"v":1,"type":"assistant_text","run":"r-20260921-141320-aaaaaa","time":1790000003.0,"turn":1,"text":"I look at the screen."}');
INSERT INTO "events" VALUES(5,'r-20260921-141320-aaaaaa',1790000004.0,'call_intended','{"v":1,"type":"call_intended","run":"r-20260921-141320-aaaaaa","time":1790000004.0,"turn":1,"call_id":"c1","name":"observe_screen","group":"direct","arguments":{},"frame":"call c1 observe_screen\nend\n"}');
INSERT INTO "events" VALUES(6,'r-20260921-141320-aaaaaa',1790000005.0,'call_finished','{"v":1,"type":"call_finished","run":"r-20260921-141320-aaaaaa","time":1790000005.0,"turn":1,"call_id":"c1","name":"observe_screen","group":"direct","outcome":"DONE","exit_code":0,"error":"","text":"Launcher\n1 Settings","milliseconds":40.0,"images":["screenshot 540x1200"]}');
INSERT INTO "events" VALUES(7,'r-20260921-141320-aaaaaa',1790000006.0,'response_finished','{"v":1,"type":"response_finished","run":"r-20260921-141320-aaaaaa","time":1790000006.0,"turn":1,"reason":"stop","text":"I look at the screen.","input_tokens":100,"output_tokens":10,"milliseconds":80.0}');
INSERT INTO "events" VALUES(8,'r-20260921-141320-aaaaaa',1790000007.0,'response_started','{"v":1,"type":"response_started","run":"r-20260921-141320-aaaaaa","time":1790000007.0,"turn":2}');
INSERT INTO "events" VALUES(9,'r-20260921-141320-aaaaaa',1790000008.0,'assistant_text','{"v":1,"type":"assistant_text","run":"r-20260921-141320-aaaaaa","time":1790000008.0,"turn":2,"text":"Wi-Fi is off now."}');
INSERT INTO "events" VALUES(10,'r-20260921-141320-aaaaaa',1790000009.0,'response_finished','{"v":1,"type":"response_finished","run":"r-20260921-141320-aaaaaa","time":1790000009.0,"turn":2,"reason":"stop","text":"Wi-Fi is off now.","input_tokens":120,"output_tokens":9,"milliseconds":60.0}');
INSERT INTO "events" VALUES(11,'r-20260921-141320-aaaaaa',1790000010.0,'run_finished','{"v":1,"type":"run_finished","run":"r-20260921-141320-aaaaaa","time":1790000010.0,"status":"done","exit_code":0,"summary":"Wi-Fi is off now.","output":"","error":"","advice":"","totals":{"turns":2,"calls":1,"input_tokens":220,"output_tokens":19,"seconds":1.5}}');
INSERT INTO "events" VALUES(12,'r-20260921-141340-bbbbbb',1790000011.0,'run_started','{"v":1,"type":"run_started","run":"r-20260921-141340-bbbbbb","time":1790000011.0,"task":"press home","device":"serial-2","provider":"openai","model":"some-model","protocol":"native-eos"}');
INSERT INTO "events" VALUES(13,'r-20260921-141340-bbbbbb',1790000012.0,'response_started','{"v":1,"type":"response_started","run":"r-20260921-141340-bbbbbb","time":1790000012.0,"turn":1}');
INSERT INTO "events" VALUES(14,'r-20260921-141340-bbbbbb',1790000013.0,'call_intended','{"v":1,"type":"call_intended","run":"r-20260921-141340-bbbbbb","time":1790000013.0,"turn":1,"call_id":"c1","name":"press_key","group":"direct","arguments":{"key":"home"},"frame":""}');
INSERT INTO "events" VALUES(15,'r-20260921-141400-cccccc',1790000014.0,'run_started','{"v":1,"type":"run_started","run":"r-20260921-141400-cccccc","time":1790000014.0,"task":"read the code","device":"virtual-1","provider":"demo","model":"demo-rules","protocol":"ctl-heredoc"}');
INSERT INTO "events" VALUES(16,'r-20260921-141400-cccccc',1790000015.0,'run_finished','{"v":1,"type":"run_finished","run":"r-20260921-141400-cccccc","time":1790000015.0,"status":"failed","exit_code":4,"summary":"the server hung up","output":"","error":"ProviderError","advice":"try again","totals":{"turns":0,"calls":0,"input_tokens":0,"output_tokens":0,"seconds":0.5}}');
CREATE TABLE runs (
    id        TEXT PRIMARY KEY,
    session   TEXT NOT NULL REFERENCES sessions(id),
    started   REAL NOT NULL,
    finished  REAL,
    status    TEXT NOT NULL,
    exit_code INTEGER,
    device    TEXT NOT NULL,
    provider  TEXT NOT NULL,
    model     TEXT NOT NULL,
    protocol  TEXT NOT NULL,
    pid       INTEGER NOT NULL
);
INSERT INTO "runs" VALUES('r-20260921-141320-aaaaaa','s-20260921-141320-aaaaaa',1790000000.0,1790000010.0,'done',0,'virtual-1','demo','demo-rules','ctl-heredoc',999999999);
INSERT INTO "runs" VALUES('r-20260921-141340-bbbbbb','s-20260921-141340-bbbbbb',1790000011.0,NULL,'running',NULL,'serial-2','openai','some-model','native-eos',999999999);
INSERT INTO "runs" VALUES('r-20260921-141400-cccccc','s-20260921-141400-cccccc',1790000014.0,1790000015.0,'failed',4,'virtual-1','demo','demo-rules','ctl-heredoc',999999999);
CREATE TABLE sessions (
    id      TEXT PRIMARY KEY,
    created REAL NOT NULL,
    title   TEXT NOT NULL
);
INSERT INTO "sessions" VALUES('s-20260921-141320-aaaaaa',1790000000.0,'turn off Wi-Fi, 关掉无线网');
INSERT INTO "sessions" VALUES('s-20260921-141340-bbbbbb',1790000011.0,'press home');
INSERT INTO "sessions" VALUES('s-20260921-141400-cccccc',1790000014.0,'read the code');
CREATE INDEX runs_by_session ON runs(session, started);
CREATE INDEX sessions_by_age ON sessions(created);
CREATE INDEX events_by_run ON events(run, seq);
CREATE TRIGGER events_are_append_only BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('events',16);
COMMIT;
PRAGMA user_version = 1;
