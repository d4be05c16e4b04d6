// Every behaviour the product promises, by id. A test cites an id in its title, `[AUD-4] …`; test/requirements.test.ts fails on
// an id nobody cites and on a citation of an unknown id.

export const requirements = {
  'HOUSE-1': 'Imports run downward through the floors and slices; the checker sees every module and bites on a planted violation.',
  'HOUSE-2':
    'The public surface (operations, tools, schemas, events, error codes, commands) is frozen in test/golden/catalog.json.',
  'HOUSE-3': 'A shell with an older Node runs the product on the bundled runtime, or is told what is needed.',

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

  'AGENT-1': 'A token is shown once, is 256 random bits, and only its hash is stored.',
  'AGENT-2': 'Add, rotate, revoke, remove and unsuspend need an operator signature; suspend narrows and does not.',

  'OPER-1':
    'A signature covers operation, input, what was shown, installation, challenge and expiry; any change of one is refused.',
  'OPER-2': 'A challenge is used once; a replayed proof is refused and recorded.',
  'OPER-3': 'The private key is at rest only under Argon2id and AES-256-GCM; a wrong passphrase says so and decides nothing.',
  'OPER-4': 'A passphrase file must be 0600 and ours; signatures made from it are marked.',
  'OPER-5': 'What was shown is computed again before running; a change in between is refused.',

  'VAULT-1': 'The vault at rest is format 1 byte for byte; a changed byte, a swapped, renamed or older row is refused.',
  'VAULT-2': 'Each slot opens the vault with its own secret and no other; a slot row that was weakened or changed opens nothing.',
  'VAULT-3':
    'The vault opens by itself where a slot of the machine allows it, else it starts locked: what needs a secret waits, bounded, or says which command opens it.',
  'VAULT-4':
    'Making the vault, its slots, a new vault key and recovery are signed decisions; the last slot and the last one a person can open stay.',
  'VAULT-5': 'kill -9 during each write of the vault leaves the old or the new, never neither.',
  'VAULT-6': 'A recovery code is shown once, tells a mistyped from a wrong code, and is replaced when it is used.',
  'VAULT-7': 'Rows of the vault that were edited, taken out or put back to an older copy lock it.',
  'VAULT-8': 'A keychain or credential that is missing, mute or slow is told as that and keeps nothing waiting.',

  'FILE-1':
    'scopegate_inject_file asks a person; what is signed is the secret’s name, place, text and the file that is replaced; the same arguments then write once, 0600, in one step, with a copy of the file before.',
  'FILE-2':
    'No grant and no rule but one that names vault:inject lets a secret into a file without a person’s yes to exactly that.',
  'FILE-3':
    'A secret goes only to places the operator signed for, never into a home, through a link, into a folder of others or over what is no plain file, also when paths are exchanged meanwhile.',
  'FILE-4':
    'A template has a place for the value and bounds; the text of a template file is read when it is asked and part of what is signed.',
  'FILE-5': 'A refresh is a signed decision and happens only where the sidecar is what the database says was written.',
  'FILE-6': 'Neither value nor an unsalted digest of it is in record, rows or sidecar.',

  'DECOY-1':
    'Honeytokens are planted, listed and taken in with a signature only; agents are told of none, and nothing unsigned tells them from secrets.',
  'DECOY-2':
    'An agent that names a honeytoken where secrets are meant, sends its value in any spelling or has it read is suspended at once, before anything else of it passes, and the incident is recorded.',
  'DECOY-3': 'What only resembles a honeytoken, its name or its value, troubles nobody.',
  'DECOY-4':
    'A suspension denies every call, survives restarts and ends with a signature; in mode alert the call alone is refused.',
  'DECOY-5':
    'Where what is stored about honeytokens cannot be read nothing passes; a setting that is none counts as the strictest.',
  'DECOY-6': 'Values of honeytokens look like tokens of their kind, checksum included, and share nothing else.',

  'EFFECT-1':
    'A tool counts as writing unless its accepted definition or the operator says that it reads, in one place for every use.',

  'TAINT-1': 'Results are searched for attempts to give orders, their first 64 KiB, in linear time.',
  'TAINT-2': 'What was found is recorded by the names of pattern and upstream, never by its text.',
  'TAINT-3':
    'In mode enforce a person decides about each write to another upstream, whatever grants there are; the approval of exactly that lets it pass, reads go on.',
  'TAINT-4': 'Taint ends after thirty minutes or with a signature.',

  'SECRET-1':
    'Adding, rotating and removing a secret needs an operator signature; one command with the value on standard input does it where nobody types.',
  'SECRET-2': 'What is signed and kept of a value is a commitment and a size class; another value than the signed one is refused.',
  'SECRET-3':
    'No value is in an error, a log, the record, a listing, a statement or a file in clear; carried bytes are zeroed after use.',
  'SECRET-4': 'The current value and, for a bounded time, the previous one of each reference are there for redaction.',
  'SECRET-5':
    'scopegate_vault_status lists names of references an agent could use: unbound ones and those of upstreams it may reach.',

  'MINT-1':
    'Tokens are asked for over verified TLS or on this machine only, without redirects, within a time and a size; nothing of an exchange is in an error.',
  'MINT-2': 'Keys are read as PEM or JWK and sign as the published examples do; one that cannot be used is told as what it is.',
  'MINT-3':
    'jwt: tokens of our own, by an RSA, P-256 or Ed25519 key or a shared secret, taken by whoever has the other half, each with an id of its own.',
  'MINT-4':
    'A minted token is used for min(what its provider gives, what is left of the grant); one that lives longer is taken back where its provider can.',
  'MINT-5':
    'A refusal of a provider is told apart from what passes by itself, in words that say what to do and repeat nothing of a secret or an answer.',
  'MINT-6': 'An entry for minting with a time, claim, role, region, repository or address that cannot be is refused.',
  'MINT-7':
    'github_app: a token narrowed to the permissions and repositories of the entry and no wider, by an assertion under ten minutes old, with clocks that differ.',
  'MINT-8': 'aws_sts: the keys of a role, by a request signed as the published examples of Signature Version 4 are.',
  'MINT-9': 'google_sa: a token for the scopes of the entry; an assertion goes to Google or the URL of the entry alone.',
  'MINT-10': 'huly: a login and its workspace, over their JSON-RPC.',
  'MINT-11':
    'Calls of each agent carry a token minted for it alone, in its requests or in a program of its own; neither key nor token comes back.',
  'MINT-12': 'Providers for trials are programs on loopback that say what they are to be used with.',

  'GIT-1':
    'git is given a token for https at the very host, port and owner of an entry; no other spelling, suffix, look-alike or user part passes for it.',
  'GIT-2': 'A token is for one repository: without a path, or for a path that is none, nothing is given and what to set is said.',
  'GIT-3': 'A token is for the one repository, of the access of the entry, as long as the grant, and given again while it lasts.',
  'GIT-4':
    'A token is taken back at the end of its grant, when its agent is suspended or gone, when its entry is taken off, and when git says that it was refused.',
  'GIT-5':
    'Each question of git is decided for the agent whose token it brings: denied, asked of a person, or granted, as git:credential:HOST/OWNER/NAME.',
  'GIT-6': 'Entering an account is the operator’s signed decision, shown whole; taking one off narrows; agents reach neither.',
  'GIT-7':
    'What git was given is on the record as intent and outcome, without the token; when nothing can be recorded nothing is given.',
  'GIT-8':
    'The helper speaks as git wants its helpers to: a credential, or a reason on standard error and nobody else asked; for other hosts, store and what is new it is silent.',
  'GIT-9': 'The real git clones and fetches with what it is given, through the line that the setup prints.',

  'FLEET-1': 'An upstream that never answers initialize fails within its start deadline and its process group is gone.',
  'FLEET-2':
    'A crash is seen by the exit event, calls in flight fail as outcome unknown, the member backs off with a delay drawn once.',
  'FLEET-3': 'Five consecutive failures open the circuit for 30 s, then exactly one probe decides; caller errors do not count.',
  'FLEET-4': 'stderr is drained into a bounded ring whose tail is in the start error.',
  'FLEET-5': 'No child outlives the daemon: not after SIGTERM, not after kill -9, grandchildren included.',
  'FLEET-6': 'A child gets an allow-listed environment only.',
  'FLEET-7': 'Definitions are pinned at first acceptance; new, changed or renamed ones are quarantined until accepted.',
  'FLEET-8': 'exposeTools restricts what is listed and callable.',
  'FLEET-9': 'An upstream in the file that no operator accepted, or whose command changed, is not started.',
  'FLEET-10': 'One bad upstream (missing binary, mute, crashing, flooding) does not hurt the others.',
  'FLEET-11': 'A call to an upstream in backoff tries at once when its retry time has come; a recovered upstream is used again.',
  'FLEET-12': 'A call has a deadline with and without progress; the upstream is told of the cancellation.',

  'HTTPUP-1':
    'An upstream over Streamable HTTP is initialized, its session and revision named in every request, and ended with DELETE.',
  'HTTPUP-2':
    'Results come back byte for byte, as JSON or as events, progress in the order of its arrival before the result; what is too big is refused.',
  'HTTPUP-3': 'A call over HTTP has a deadline and can be cancelled; the upstream is told, and the connection is closed.',
  'HTTPUP-4':
    'A connection that breaks leaves the outcome unknown; a call is never made twice, and a stream with positions is resumed.',
  'HTTPUP-5': 'A lost session is recognized whatever words the upstream has for it, and never mistaken for the error of a tool.',
  'HTTPUP-6':
    'An upstream that is unreachable, busy, failing, redirecting, no MCP server or in want of a login is told as exactly that.',
  'HTTPUP-7':
    'Notices of an upstream over HTTP are heard, over connections that break; an upstream without such a stream is served.',
  'HTTPUP-8': 'The dialect of an upstream over HTTP is found out once, and again when it changed.',
  'HTTPUP-9': 'The HTTP+SSE transport of 2024-11-05 is spoken where nothing newer is, within one origin.',
  'HTTPUP-10': 'An upstream of 2026-07-28 gets envelope, headers and mirrored arguments as that revision wants them.',
  'HTTPUP-11':
    'What an upstream asks back within its result reaches callers of 2026-07-28 untouched and is an error for those of 2025 that cannot be asked.',
  'HTTPUP-12':
    'Each agent session has an upstream session of its own where the upstream keeps state, initialized once and ended with it.',
  'HTTPUP-13': 'The number of upstream sessions is bounded; beyond it the error names the capacity and nobody else is hurt.',
  'HTTPUP-14': 'Looking at an upstream, however often, opens no further session.',
  'HTTPUP-15':
    'An upstream over HTTP that restarts is called again without a second execution, and held to the accepted definitions first.',
  'HTTPUP-16': 'An upstream over HTTP that is down is told as down, tried again, and used as soon as it is back.',
  'HTTPUP-17': 'An upstream that refuses the login is left alone until a person says so.',
  'HTTPUP-18': 'Adding an upstream over HTTP shows URL, origin and digest; another URL is another decision.',
  'HTTPUP-19': 'URLs and headers that hold secrets, lead elsewhere or give up encryption unasked are refused in words.',
  'HTTPUP-20': 'A stock MCP server over Streamable HTTP works end to end.',
  'HTTPUP-21':
    'An upstream over HTTP that asks back within a session is answered: its pings, and that nobody is there for the rest.',

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

  'POL-1': 'Coverage is language inclusion and denial is non-empty intersection, proved against brute force.',
  'POL-2': 'Metacharacters, alternatives, control, bidi, zero-width and non-NFC text in a request are refused.',
  'POL-3': 'Every row of W2 (glob injection, deny evasion) is refused.',
  'POL-4': 'Every row of W7 (deny order, replaced denies, raised ceilings, fall-through) is refused.',
  'POL-5': 'Unknown keys at every depth of the file are refused with a suggestion and a line.',
  'POL-6': 'Sections are chosen exact, then longest glob, then *; limits and denies are united over all matching ones.',
  'POL-7': 'The first rule that covers decides, except that an earlier ask meeting any part makes the whole ask.',
  'POL-8':
    'A hot reload that provably narrows takes effect; a wider one is refused, said and recorded, the last good stays in force.',
  'POL-9': 'policies check names shadowed, dead and contradictory rules; explain names the deciding rule and the built-in ones.',
  'POL-10': 'Conditions on annotations read the accepted pin only; guards on arguments must all hold.',
  'POL-11': 'A missing, unreadable or tampered policy state denies everything and says so.',

  'GRANT-1': 'A covered call issues an implicit grant; a held capability answers existing_grant.',
  'GRANT-2': 'ttl is the minimum of requested, every covering rule and every ceiling; the TTL grammar is strict.',
  'GRANT-3': 'Every call evaluates its literal again: a new deny bites live grants at once.',
  'GRANT-4': 'Requests and escalations are rate limited with retry_after_s; calls under a grant are not counted.',

  'APPR-1': 'An escalated request shows agent, capability, arguments, ttl and expiry, and is idempotent.',
  'APPR-2':
    'An approval born from a call buys one execution of exactly those arguments; another argument or a second call asks again.',
  'APPR-3': 'An approval born from a request buys a grant for its ttl; --ttl only shortens.',
  'APPR-4': 'A denial carries its reason to the agent and is repeated for 10 minutes with retry_after_s.',
  'APPR-5': 'An expired approval cannot be approved.',
  'APPR-6': 'wait: true is woken by the decision, sends progress each 10 s, and answers by 55 s without a progress token.',
  'APPR-7': 'At most five approvals are open per agent.',

  'TOOL-1': 'request_capability answers in the shapes of the contract page.',
  'TOOL-2': 'can_i answers in the shapes of the page, records nothing, and works while the log is down.',
  'TOOL-3': 'policy_summary answers in the shape of the page.',
  'TOOL-4': 'list_capabilities answers in the shape of the page.',
  'TOOL-5': 'diagnose never rejects and measures health live.',
  'TOOL-6': 'upstream_health carries the circuit.',
  'TOOL-7': 'Misuse and unknown tools are ERROR text, execution and policy failures the JSON envelope with kind and next_action.',
  'TOOL-8': 'What a deny covers is never listed and answers policy_denied whether or not it exists.',

  'PROP-1':
    'propose_policy answers in the shapes of the page, takes match, ttl and justification only, and says in the page’s words what is wrong with them.',
  'PROP-2':
    'A proposal never changes what is in force; what an agent writes stays data in the queue, the file, the record and on the screen.',
  'PROP-3':
    'A proposal is checked against limits, denies and rules before a person sees it; an identical one is told, and pending ones are bounded.',
  'PROP-4':
    'policies review shows who proposed what, and what accepting it would change; policies.pending.yaml is a readable copy nobody is shown anything from.',
  'PROP-5':
    'Accepting signs the resulting text and its difference, adds one rule that decides, keeps every other byte, and closes the proposal in the same commit; one of two wins.',
  'PROP-6':
    'A section may inherit the rules of another one about all its agents: behind its own, explained, compared and checked as if written out.',
  'PROP-7':
    'Nothing is accepted while the policy file is not the one in force, after the policy changed, or twice; a rejection carries its reason to the agent.',

  'BATCHCAP-1': 'Each request of a batch is answered in its place, in the shapes of the page without instructions.',
  'BATCHCAP-2':
    'A batch costs one unit of the rate, meets every bound item by item, and repeated grants and asks nothing new; what stops it as a whole says so.',
  'BATCHCAP-3': 'Every item of a batch is on the record as one of a batch.',
  'BATCHCAP-4': 'More than twenty requests, waiting and continuations in a batch are misuse that leaves no trace.',

  'INJECT-1':
    'A secret goes to the accepted spec alone: another URL, command or login under the same name is a new decision, before which nothing is sent.',
  'INJECT-2':
    'The value of the vault is in every request over HTTP and in the variables of a program; one that cannot stand there, or could not be masked, is refused in words without it.',
  'INJECT-3':
    'A name that is not in the vault holds its upstream in a state of its own, and a closed vault leaves it stopped; either ends by itself when that changes.',
  'INJECT-4':
    'A changed value reaches connections and running programs: calls in flight finish, the next one has the new value, and the old program ends.',
  'INJECT-5':
    'However many need a credential at once, one is obtained and on the record before; no agent is given one that was minted for another or outlives its grant.',
  'INJECT-6':
    'A 401 is tried once more where another credential may be had; else the upstream is parked with the command that mends it.',
  'INJECT-7':
    'Whoever accepts an upstream reads which secret goes where, who else has it and what is missing; a value in place of a name is refused without being repeated.',
  'REDACT-1':
    'A value an upstream was given is masked in all it says: results, errors, progress, logs, questions, definitions, what it says of itself, its last words.',
  'REDACT-2': 'A value is found raw, JSON-escaped to any depth, in base64 at each alignment, in hex and percent-encoded.',
  'REDACT-3': 'Where nothing is found the bytes stay; what is masked stays JSON; no text makes the search slow.',
  'REDACT-4': 'Canaries in every kind of secret are found nowhere a value may not be, before and after a rotation.',
  'REDACT-5': 'The redact categories of a rule hold for every grant, however it was issued.',

  'RES-1':
    'The redact categories of every covering rule are masked wherever a string stands; without a finding the bytes are untouched.',

  'AUD-1': 'Leaf and node hashes, inclusion and consistency proofs are RFC 6962, checked against published vectors.',
  'AUD-2': 'Checkpoints are C2SP signed notes, signed at most once a second and at once for decisions.',
  'AUD-3': 'A flipped byte is detected and located.',
  'AUD-4': 'A deleted record is detected and located.',
  'AUD-5': 'Swapped records are detected and located.',
  'AUD-6': 'A truncated log is detected; below a signed checkpoint the daemon refuses to start.',
  'AUD-7': 'A forked log is detected against an older checkpoint.',
  'AUD-8': 'A replayed old checkpoint is detected.',
  'AUD-9': 'One record is proved offline from an exported bundle by a script that needs nothing of the product.',
  'AUD-10': 'The intent is on the record before the effect; an intent without outcome closes as unknown at the next start.',
  'AUD-11': 'State and record are one commit: a crash between them is finished at boot, nothing twice and nothing lost.',
  'AUD-12': 'A full disk refuses what must be recorded, keeps answering look-ups, and recovers when there is room.',
  'AUD-13': 'Arguments and results are on the record as salted digests only.',
  'AUD-14': 'A torn tail is cut back to whole records and the loss is on the record.',

  'STORE-1': 'Every store passes one contract suite on SQLite and on PostgreSQL.',
  'STORE-2': 'A synced commit does not block the event loop.',
  'STORE-3': 'A second daemon on the same home or database is refused.',

  'SEC-1':
    'A shell of the same user without the passphrase cannot approve, widen policy, add an agent or upstream, or unsuspend; all recorded.',
  'SEC-2': 'An agent with its token cannot reach an operator operation by any door.',
  'SEC-3': 'A forged or replayed decision is refused and recorded.',
  'SEC-4': 'kill -9 at any moment leaves no process and no corrupt state.',

  'CLI-1': 'Every command has --help, --json, a clear error with exit code 1 for failure and 2 for misuse.',
  'CLI-2': 'up prints one JSON line with agent_url, human_url, socket and pid; SIGTERM ends it with 0; down works from elsewhere.',
  'CLI-3': 'The first run guides a person at a terminal and is silent and sane without one.',

  'NAME-1':
    'A proxied tool is listed as <upstream>__<tool> where that fits 64 characters and the charset, else under a short form that follows from the two names alone.',
  'NAME-2':
    'Names that would meet, by letter case, across the joint or by their short forms, are told apart the same way in any order of listing.',
  'NAME-3': 'Safe naming maps dots to underscores for own and proxied tools; a tool that is spelled so itself keeps the name.',
  'NAME-4':
    'For any set of tools the names are unique without regard to case, independent of order, stable when tools are added, and lead back to exactly their tool.',
  'NAME-5':
    'A call by the listed or by the full name reaches the same tool; capabilities, errors and approvals show the real name; a short form discloses nothing a deny covers.',
  'NAME-6':
    'A definition that is not legal MCP or beyond the bounds is left out alone, never acceptable, and the operator is told why in words.',
  'NAME-7': 'A legal definition that some clients or model APIs refuse is listed, and tools review warns of it.',
  'NAME-8': '/mcp/upstreams/<name> serves one upstream under its own names with the same policy.',

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

  'REG-1':
    'An agent proposes an upstream in one of two envelopes; whatever else it says is refused in the words of the contract, and nothing is asked.',
  'REG-2': 'Only names of secrets are taken: what looks like a secret itself is refused wherever it stands, and not repeated.',
  'REG-3': 'Login and addresses of an upstream are part of what an operator signs.',
  'REG-4':
    'A person is asked in the pending shape whatever a rule allows; before the signature nothing is started, dialled, resolved or written.',
  'REG-5':
    'What is signed is the whole entry with its digest, what its command means now or where its URL leads, and which secrets go where; anything else by then is refused.',
  'REG-6':
    'A signed registration is written to sallyport.yaml, accepted and started, its first list pinned; the same call then answers with the connection, or with the secrets it waits for.',
  'REG-7':
    'A known name is only replaced, shown as a difference with the secrets that leave and arrive, and until then the old one goes on.',
  'REG-8': 'The same proposal is the same approval; a denial, the bound on open questions and expiry hold as for every other.',

  'CATALOG-1':
    'A catalogue from elsewhere is in force only when the configured key signed exactly its bytes; another key, other bytes or no signature is refused.',
  'CATALOG-2':
    'Every manifest is the one its index names by hash, about the name it stands under; a swapped or changed one is refused.',
  'CATALOG-3': 'A version is never taken twice or back, and one whose time is over registers nothing.',
  'CATALOG-4':
    'A catalogue takes https URLs and launchers pinned to one exact version; interpreters, ranges and tags are refused at signing and at reading.',
  'CATALOG-5':
    'Taking a catalogue over is a signed decision that shows source, key and what changes; what was shown is what is taken.',
  'CATALOG-6':
    'An agent names an entry and nothing else; a person reads which manifest of which catalogue it is, and what the catalogue says of its secrets is told.',
  'CATALOG-7': 'The catalogue that comes with the package holds, and every command in it is pinned.',

  'SSRF-1': 'An address is of the kind its registry says, also when it is carried within another one.',
  'SSRF-2':
    'A URL that an agent proposes is refused in words where it leads to link-local or metadata addresses or hides where it leads, and what is private or unusual of it is read by the person.',
  'SSRF-3':
    'A name is held against the addresses its entry allows at every connection, so that turning it elsewhere later leads nowhere.',
  'SSRF-4':
    'Endpoints of tokens, of discovery and of catalogues are never where machines are given their credentials, whoever named them.',

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

  'BATCH-1': 'A session of 2025-03-26 may send batches; those of later revisions are told that there are none.',
  'BATCH-2':
    'Each message of a batch is served as if it had come alone; the answers are one array, or events when something streams, or 202 when there are none.',
  'BATCH-3': 'A batch that is empty, too long, or has an id twice does nothing at all; initialize is never in one.',

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

  'SHARE-1': 'How an upstream is shared is part of what an operator signs.',
  'SHARE-2': 'An upstream shared by agent or session has a process for each, with the client behind it declared.',
  'SHARE-3': 'A process of one agent that crashes, hangs or does not start hurts no other and not the list.',
  'SHARE-4': 'Own processes are capped in number and ended when idle, never while a call, a question or a follower uses them.',
  'SHARE-5': 'No own process outlives its session, its daemon or a thousand of either.',
  'SHARE-6': 'Of two sessions in flight on one process of their agent neither is asked; a sole one is.',
  'SHARE-7': 'Where clients can be asked, the list has what an upstream lists only for clients that can.',

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
  'TASK-11':
    'What a task asks its client of 2026 is decided and recorded like every question of an upstream, and of roots in the answers it gets no more than it may.',
  'TASK-10': 'How a task goes is told to the client whose call it was, and to nobody else.',

  'OAUTH-1': 'Five calls at the end of a token make one request to a server that uses each refresh token once.',
  'OAUTH-2': 'A login is renewed by itself at 80 % of the life of its token, a tenth of that earlier or later.',
  'OAUTH-3':
    'A renewed token is in the vault before anybody is given it; a commit that fails is made up for without another request, and kill -9 leaves the old or the new.',
  'OAUTH-4': 'Tokens of 8 KB are kept and shown whole; those that fit in no vault are refused.',
  'OAUTH-5': 'A token whose end is not known is used until it is refused, and no refusal makes a loop of renewals.',
  'OAUTH-6':
    'A token endpoint that cannot be reached never ends a login: it is asked less and less often, and the login goes on when it is back.',
  'OAUTH-7': 'After five failures or a final one only calls poke the token endpoint, and not all of them.',
  'OAUTH-8': 'Where a person has to log in again calls fail at once and name the command; several upstreams are each shown.',
  'OAUTH-9': 'A renewal under way overwrites no login that a person made meanwhile.',
  'OAUTH-10': 'What is left after a logout is a registration, never taken for a login, also after a restart.',
  'OAUTH-11':
    'The authorization server is found as RFC 9728 and RFC 8414 say, with the older ways behind them, and nothing that is neither https nor this machine is asked.',
  'OAUTH-12':
    'Metadata of another issuer or another resource, and an answer of another server or another visit, stop a login before anything is sent.',
  'OAUTH-13': 'Who we are to a server is shown to no other, and a registration is used again only where it still fits.',
  'OAUTH-14': 'A code is asked for and exchanged with PKCE and for the resource of the upstream alone.',
  'OAUTH-15': 'A code on another device is waited for as its server says, and ends as its server says.',
  'OAUTH-16': 'A login is asked for what is needed: what was missed comes to what was granted, and nothing is made up.',
  'OAUTH-17':
    'A login is kept with the operator’s signature over its server, client, resource and scopes; no token is shown, recorded or in an argument.',
  'OAUTH-18': 'The browser comes back to one path on 127.0.0.1 with the right state; whatever else comes changes nothing.',
  'OAUTH-19': 'A login is given to the place it was made for and to no other, whatever goes by the same name.',
  'OAUTH-20': 'What an upstream answers to its own token is told as a failure of the tool, never as one of ours.',
  'OAUTH-21': 'Only a login that is there is written by the daemon itself; no secret of a person can be overwritten that way.',

  'LOAD-1': '20 agents with 1,000 calls each, mixed allow and ask: flat memory, no leaked child, the log verifies.',

  'CONF-1': 'The conformance fixtures pass every check of the suite bare, so that what fails behind the gateway is the gateway’s.',
  'CONF-2':
    'With an upstream of ours behind `/mcp/upstreams/<name>` the server sets of 2025-11-25 and 2026-07-28 pass, but for what the baseline names: over HTTP, over stdio, and across to the other era.',
  'CONF-3':
    'The baseline only shrinks: an unlisted failure or warning, a line whose check passes, and a required scenario that checked nothing are refused.',
  'CONF-4': 'The connector for HTTP upstreams passes the client sets of both revisions, but for what the baseline names.',
} as const;

export type RequirementId = keyof typeof requirements;
