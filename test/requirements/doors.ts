// What agents find at the door and at the bridge, in every revision.

export const doors = {
  'DOOR-1':
    'Streamable HTTP: initialize negotiates 2025-11-25, 2025-06-18 and 2025-03-26; a session id is issued, required and ended by DELETE.',
  'DOOR-2': 'A missing, wrong, revoked or rotated token gets 401 and reaches nothing.',
  'DOOR-3': 'A wrong Host or Origin gets 403 on every route of every TCP door.',
  'DOOR-4':
    'Malformed JSON, duplicate keys, unsafe numbers, oversized bodies and wrong content types get a clear JSON-RPC or HTTP error.',
  'DOOR-5': 'Progress of the upstream reaches the caller in arrival order, also when it shares a chunk with the result.',
  'DOOR-6': 'Cancelling a call cancels it upstream under the upstream’s own id; a dropped connection does the same.',
  'DOOR-7': 'tools/list pages with opaque cursors in a stable order; a bad cursor is -32602.',
  'DOOR-8': 'A change of catalog, pins or policy sends tools/list_changed to open sessions.',
  'DOOR-9':
    'The stdio bridge needs a token, relays requests, notifications and progress, and says what is wrong when there is no daemon.',
  'DOOR-10': 'A taken port is an error with the port in it, never a hop.',
  'DOOR-11': 'The upstream’s result bytes reach the agent unchanged.',
  'DOOR-12': 'Sessions of a revoked, suspended or rotated agent end at once.',

  'ERA-1':
    'Each request is served in the revision it says: 2026-07-28 by its _meta or header, the 2025 revisions as before, both at one endpoint at once.',
  'ERA-2':
    'A stateless request needs no session and gets none; all of an agent at one endpoint that declare the same are one caller; server/discover says what is served.',
  'ERA-3':
    'A broken envelope is 400 and -32602, an unserved revision 400 and -32022, an unknown or removed method 404 and -32601, GET and DELETE 405.',
  'ERA-4': 'MCP-Protocol-Version, Mcp-Method and Mcp-Name must say what the body says, else 400 and -32020.',
  'ERA-5':
    'Mcp-Param headers must say what the arguments say that the listed definition marks with x-mcp-header, else 400 and -32020.',
  'ERA-6':
    'subscriptions/listen acknowledges first, tags every notice, sends only what was asked, is bounded per agent and ends with the agent.',
  'ERA-7':
    'Stateless results say resultType, own ones who wrote them, lists ttlMs and a private cacheScope; every byte of an upstream’s result stays.',
  'ERA-8':
    'Closing the response stream cancels the request; only its own progress rides on it; equal ids of two clients do not meet.',
  'ERA-9':
    'The stdio bridge gives stateless requests their headers, takes them back by closing, and keeps a subscription over a restart of the daemon.',
  'ERA-10': 'Every message the door sends is valid under the published schema of its revision.',
  'ERA-11': 'Error codes that 2026-07-28 took away reach no client of it.',
  'ERA-12':
    'A subscription of 2026-07-28 follows up to 256 resources: those refused are left out of what is acknowledged, updates carry its id, all ends with it.',
  'ERA-13': 'Log messages come with the request that asked for their level, on its stream, and with no other.',
  'ERA-14':
    'At its own endpoint an upstream is introduced by what it said of itself, and a method that only it knows is relayed; no other is.',
  'ERA-15': 'Stateless clients that declare different capabilities are different callers.',

  'PARK-1':
    'What an upstream asks in the middle of a call answers a 2026-07-28 client with input_required; the same request with the responses goes on with the call, which runs once.',
  'PARK-2':
    'Only the agent, endpoint, method, target, arguments and capabilities of the parked call resume it, and each state once.',
  'PARK-3': 'Missing, extra or misshapen responses are refused with -32602, and the call still waits.',
  'PARK-4': 'A client is never asked what it did not declare, nor in a request that may not be answered with a question.',
  'PARK-5':
    'Parked calls are bounded: 64 per agent, 10 minutes for each question; they end with their agent and when the gateway stops.',
  'PARK-6':
    'A parked call survives the end of the exchange that was answered; an exchange that carries a call cancels it when it closes.',

  'BRIDGE-1':
    'A question of the daemon reaches the stdio client, on whatever stream it comes, and the answer whoever asked, byte for byte.',
  'BRIDGE-2':
    'A question ends with its session or when it is taken back: the client is told, a late answer goes nowhere and makes no session.',
  'BRIDGE-3': 'Batches of a 2025-03-26 stdio client go through as arrays; where there are none each request of one is told so.',
  'BRIDGE-4':
    'What a stdio client follows and the log level it set outlive a restart of the daemon, and it hears that what it follows may have changed.',
  'BRIDGE-5': 'Questions as results, log messages and followed resources of 2026-07-28 go through the bridge as they are.',

  'FAST-1':
    'The plain form of HTTP at the agent door is taken as node’s HTTP server takes it: the same requests and the same answers, however the bytes are cut.',
  'FAST-2':
    'Whatever is not exactly the plain form is left to node’s HTTP server, with every byte from its start: nothing is read in two ways.',
  'FAST-3':
    'On the plain form too a slow body, a silent or an idle peer is cut off, a dropped one is noticed, and closing keeps its grace.',
  'FAST-4':
    'Answers of upstreams over plain HTTP are told as node’s HTTP client tells them, however the bytes are cut; what is not plain is left to it.',
  'FAST-5':
    'A connection to an upstream is kept as long as nothing is in doubt; a request is sent again only if it may be, and once; what failed says whether it was sent.',
  'FAST-6': 'A result of any length and in any characters leaves the agent door as the text it is.',
  'FAST-7': 'The daemon begins with a bounded young heap, in the process that was started; a size that was chosen stays.',

  'BATCH-1': 'A session of 2025-03-26 may send batches; those of later revisions are told that there are none.',
  'BATCH-2':
    'Each message of a batch is served as if it had come alone; the answers are one array, or events when something streams, or 202 when there are none.',
  'BATCH-3': 'A batch that is empty, too long, or has an id twice does nothing at all; initialize is never in one.',
} as const;
