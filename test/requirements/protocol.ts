// What passes between a client and an upstream, in both directions.

export const protocol = {
  'REL-1':
    'Prompts, resources and templates of all upstreams are listed with every page and every byte; at /mcp prompts are named like tools, at /mcp/upstreams/<name> nothing is renamed.',
  'REL-2':
    'prompts/get, resources/read and completion/complete reach the upstream under its own name for what is asked, and the result comes back byte for byte.',
  'REL-3':
    'Each is decided by its own capability: denied ones are never listed and answer alike whether or not they exist, asked ones run once for exactly these arguments after a person agreed.',
  'REL-4': 'Each has its intent and outcome on the record as a known read, refusals as well, and what rules redact is masked.',
  'REL-5':
    'A URI with several spellings (dot segments, needless percent-encoding) is refused before anything is decided, and one that no capability can name says so.',
  'REL-6':
    'At /mcp a URI belongs to the first upstream by name that lists it for this agent, else to the first with a template for it.',
  'REL-7':
    'A URI that names nothing is -32002 in 2025 and -32602 in 2026; other refusals are JSON-RPC errors that say what to do next.',
  'REL-8': 'Completion is decided as its prompt or resource, and an approval of one never passes for the other.',
  'REL-9':
    'Capabilities are declared where something behind the endpoint has them, and exactly those who were told so hear that a list changed.',
  'REL-10': 'What a 2026 client reads is marked as its own to keep, whatever the upstream said.',

  'TWOWAY-1':
    'What a client says of itself when its session begins stands, within bounds, behind every call of it: one host for the whole session.',
  'TWOWAY-2':
    'A request to a client rides on the stream of a call in flight, else on the one it listens on; without any it waits a moment, then says that nobody is there.',
  'TWOWAY-3': 'What the client answers, result or error, reaches whoever asked as the very text.',
  'TWOWAY-4':
    'Only the session that was asked can answer, once and before the request is taken back; every other answer is dropped.',
  'TWOWAY-5': 'The end of a session ends what was asked of its client, and 30,000 such sessions leave nothing behind.',
  'TWOWAY-6': 'A request that is taken back is cancelled at the client, and the progress it reports reaches whoever asked.',
  'TWOWAY-7': 'An answer that strict reading refuses, or that is against JSON-RPC, fails the request it was given to.',
  'TWOWAY-8': 'At most 64 requests to one client are in flight, and one more is refused.',
  'TWOWAY-9': 'logging/setLevel is of its session alone, and a level that is none is -32602.',
  'TWOWAY-10': 'Notices to a client are told on a stream it has; without one logs are lost and others wait, within bounds.',
  'TWOWAY-11':
    'resources/subscribe is decided by the gateway, taken back like a call, and refused in the words of resources/read; unsubscribe ends it.',
  'TWOWAY-12': 'That the roots of a client changed is told to the gateway, for its session.',
  'TWOWAY-13':
    'What is declared is what is relayed; at the endpoint of one upstream in its own words, serverInfo and instructions included.',
  'TWOWAY-14':
    'A method that no revision of MCP knows travels to the upstream at its own endpoint and is -32601 at every other; those of MCP never travel so.',
  'TWOWAY-20':
    'What an upstream asks or tells goes to exactly the client whose call it is about; where that cannot be told it is refused, and nobody is asked.',
  'TWOWAY-21':
    'A client is asked with the bytes of the upstream, which is answered with those of the client, under its own id and with progress under its own token.',
  'TWOWAY-22':
    'A question is over when the upstream takes it back, when the call it is for ends without an answer, and when the connection ends.',
  'TWOWAY-23': 'While its client is asked the time of a call stands still, for ten minutes in all.',
  'TWOWAY-24':
    'Log messages and notices of an upstream’s own reach the client they are about with their bytes; notices about the connection stay with it.',
  'TWOWAY-25':
    'An upstream is told the capabilities and the name of the one client behind a connection, and of a shared one nothing.',
  'TWOWAY-26': 'A program that speaks 2026-07-28 alone is served over the pipe on which it refused to initialize.',
  'TWOWAY-27':
    'Towards 2026-07-28 one subscription covers every followed resource; the old one stands until the new one is acknowledged, and it is asked for again after a break.',
  'TWOWAY-28':
    'Log level and followed resources are asked for again on every connection that takes the place of one, and what is followed then counts as changed.',
  'TWOWAY-29':
    'Where a connection serves several sessions it has the level of the most curious, and a resource is followed until the last of them lets go.',
  'TWOWAY-30': 'At most 64 questions of an upstream are open on a connection.',

  'HOST-1': 'What an upstream asks back reaches the client of the very call, and the client’s answer or error the upstream.',
  'HOST-2':
    'Sampling, elicitation and roots may be asked unless a rule denies them, anything else only where a rule allows it; where a rule asks a person, under a grant a person gave.',
  'HOST-3': 'An upstream is told of the client’s capabilities only what it may use, and a question beyond them is refused.',
  'HOST-4':
    'A question is on the record before its client sees it and its outcome after, in digests only; without a record nothing is asked.',
  'HOST-5': 'A suspended agent is asked nothing, and what its client answers goes nowhere.',
  'HOST-6':
    'Log messages reach a client from its level on; notices of an upstream’s own only where a rule allows them, those of the session itself never.',
  'HOST-7': 'What is masked in answers of an upstream to a client is masked in all else it shows it.',
  'HOST-8':
    'What an upstream of 2026-07-28 needs before it answers a client of 2025 is asked of that client, all of a round at once, and sent with the untouched state; it stays one admission and one intent.',
  'HOST-9': 'It is asked in at most 8 rounds and 10 minutes, and a question without an answer ends the call with words.',
  'HOST-10': 'A client of 2026-07-28 gets such questions byte for byte, on the record, but for those that may not be asked.',

  'ROOTS-1': 'Without roots in its signed entry an upstream is told of none and can ask for none.',
  'ROOTS-2':
    'An upstream is told of a client’s roots what lies inside the configured places and nothing else, whatever spelling is tried.',
  'ROOTS-3': 'A change of roots is told to the session’s own connections of upstreams that are told of roots.',
  'ROOTS-4': 'Roots are part of what an operator accepts; a path with several readings is refused in words.',

  'ELICIT-1':
    'Where a call waits for a person, a client that can show it gets a link to the page or a form with the command, and the call goes on when the decision lands.',
  'ELICIT-2': 'No answer of a client decides: without a person’s signature nothing runs, whatever it accepts.',
  'ELICIT-3': 'A client that declines, cancels, fails or does not want to wait has the pending answer at once.',
  'ELICIT-4': 'The wait is bounded, told with progress, and leaves no question and no timer behind.',
  'ELICIT-5': 'What runs afterwards is exactly what was asked, decided again under the policy and the standing of then.',
  'ELICIT-6': 'The page of an approval says who wants what and how to decide, shows no argument, and decides nothing.',

  'SUBS-1':
    'A resource is followed where the agent may read it: the subscription is decided, recorded and refused like a read, and asks nobody.',
  'SUBS-2':
    'An update reaches exactly the clients that follow the resource or what it is a part of, in the upstream’s own bytes, and nobody twice.',
  'SUBS-3':
    'Each update is decided again: a new deny ends the following silently and on the record, and a part that may not be read is not told of.',
  'SUBS-4':
    'An upstream is asked once for each URI however many follow it, and told when nobody is left; the end of a session ends what it follows.',
  'SUBS-5': 'What a session and an agent may follow is bounded.',

  'LOGS-1':
    'A session hears the log messages it asked for, without asking those from info on; a shared upstream is asked for what the most curious wants.',

  'VENDOR-1':
    'A method that only the upstream knows reaches it at its own endpoint, both ways byte for byte, where a rule allows it, and is recorded as a write.',
  'VENDOR-2':
    'Without a rule, at any other endpoint, or under a name that no capability can hold, there is no such method; what a deny covers is denied.',

  'DECL-1':
    'An endpoint declares logging and subscriptions where something behind it has them; at its own endpoint an upstream speaks for itself, and one that a deny covers whole is as if it were not there.',

  'TASK-1':
    'A call that asks to go on as a task does where upstream and client speak of tasks alike; to every other upstream nothing is said of it.',
  'TASK-2':
    'What is asked about a task reaches its upstream and comes back byte for byte, at `/mcp` found by its id, at the endpoint of the upstream as it is.',
  'TASK-3':
    'A task of another agent, or of another session where the upstream keeps sessions apart, answers exactly like one that does not exist; a list holds own ones only.',
  'TASK-4':
    'The admission of the call covers its task: nobody is asked again, a new deny bites at once, and what rules redact of the call is masked in all that follows.',
  'TASK-5': 'The record has the call as intent and outcome, what is asked about its task, and once how the task ended.',
  'TASK-6':
    'Ids that upstreams give twice lead nobody to the task of another: a task ends for its owner when its id is given again or its upstream is another process.',
  'TASK-7':
    'Where two upstreams give an agent the same id, the earlier task keeps it at `/mcp`, and the later one is said to be elsewhere.',
  'TASK-8':
    'Tasks are declared where something behind the endpoint has them, as the revision of the client has it; a client of 2026 that did not declare them gets -32021.',
  'TASK-9': 'What is kept of tasks is bounded for each agent, and forgotten when their time is over.',
  'TASK-10': 'How a task goes is told to the client whose call it was, and to nobody else.',
  'TASK-11':
    'What a task asks its client of 2026 is decided and recorded like every question of an upstream, and of roots in the answers it gets no more than it may.',

  'INTEROP-1':
    'Stock servers and servers of both SDK lines answer through the gateway as they answer alone, to clients of both lines.',
  'INTEROP-2':
    'Fifteen stock servers side by side list and answer through the program byte for byte as they do alone, over stdio and over HTTP, and leave nothing behind.',
  'INTEROP-3': 'The inspector and mcp-remote list, call, read and hear progress at both doors as clients of ours do.',
  'INTEROP-4':
    'Clients of both SDK lines and eras are asked, logged to, told and completed for by a stock server behind the program, over stdio and over HTTP.',

  'FID-1':
    'Of what relays lose nothing is lost: every row of the fidelity matrix is exact for every pair of eras, doors and transports, but for what a revision itself forces.',

  'CASE-1':
    'Of 1,000 progress notices that share a chunk with their result none is lost, for every pair of eras, doors and transports.',
  'CASE-2': 'Results of 1 MB and 20 MB arrive whole, for every pair of eras, doors and transports.',
  'CASE-3':
    'An upstream that restarts and forgets its sessions, in whatever words it says so, is called again through the program, and once.',
  'CASE-4': 'What is down when the gateway starts serves when it is started later, and a call in its back-off uses it again.',
  'CASE-5': 'At its capacity an upstream stays listed, says so by name and number, and goes on for those that are in.',
  'CASE-6': 'A tool added at run time is told of, held back until a person accepts it, and then called.',
  'CASE-7': 'The wait for a person takes nothing from the time of the tool, and no progress prolongs that.',
  'CASE-8': 'However often an upstream is looked at or fails its login, it gets no further session and the agent no 401.',

  'CONF-1': 'The conformance fixtures pass every check of the suite bare, so that what fails behind the gateway is the gateway’s.',
  'CONF-2':
    'With an upstream of ours behind `/mcp/upstreams/<name>` the server sets of 2025-11-25 and 2026-07-28 pass, but for what the baseline names: over HTTP, over stdio, and across to the other era.',
  'CONF-3':
    'The baseline only shrinks: an unlisted failure or warning, a line whose check passes, and a required scenario that checked nothing are refused.',
  'CONF-4': 'The connector for HTTP upstreams passes the client sets of both revisions, but for what the baseline names.',
} as const;
