// What stands behind the gateway, how it got there and how it is kept going.

export const upstreams = {
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

  'SHARE-1': 'How an upstream is shared is part of what an operator signs.',
  'SHARE-2': 'An upstream shared by agent or session has a process for each, with the client behind it declared.',
  'SHARE-3': 'A process of one agent that crashes, hangs or does not start hurts no other and not the list.',
  'SHARE-4': 'Own processes are capped in number and ended when idle, never while a call, a question or a follower uses them.',
  'SHARE-5': 'No own process outlives its session, its daemon or a thousand of either.',
  'SHARE-6': 'Of two sessions in flight on one process of their agent neither is asked; a sole one is.',
  'SHARE-7': 'Where clients can be asked, the list has what an upstream lists only for clients that can.',

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
} as const;
