// Who may do what, and who decides it.

export const decisions = {
  'AGENT-1': 'A token is shown once, is 256 random bits, and only its hash is stored.',
  'AGENT-2': 'Add, rotate, revoke, remove and unsuspend need an operator signature; suspend narrows and does not.',

  'OPER-1':
    'A signature covers operation, input, what was shown, installation, challenge and expiry; any change of one is refused.',
  'OPER-2': 'A challenge is used once; a replayed proof is refused and recorded.',
  'OPER-3': 'The private key is at rest only under Argon2id and AES-256-GCM; a wrong passphrase says so and decides nothing.',
  'OPER-4': 'A passphrase file must be 0600 and ours; signatures made from it are marked.',
  'OPER-5': 'What was shown is computed again before running; a change in between is refused.',

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

  'BATCHCAP-1': 'Each request of a batch is answered in its place, in the shapes of the page without instructions.',
  'BATCHCAP-2':
    'A batch costs one unit of the rate, meets every bound item by item, and repeated grants and asks nothing new; what stops it as a whole says so.',
  'BATCHCAP-3': 'Every item of a batch is on the record as one of a batch.',
  'BATCHCAP-4': 'More than twenty requests, waiting and continuations in a batch are misuse that leaves no trace.',

  'TOOL-1': 'request_capability answers in the shapes of the contract page.',
  'TOOL-2': 'can_i answers in the shapes of the page, records nothing, and works while the log is down.',
  'TOOL-3': 'policy_summary answers in the shape of the page.',
  'TOOL-4': 'list_capabilities answers in the shape of the page.',
  'TOOL-5': 'diagnose never rejects and measures health live.',
  'TOOL-6': 'upstream_health carries the circuit.',
  'TOOL-7': 'Misuse and unknown tools are ERROR text, execution and policy failures the JSON envelope with kind and next_action.',
  'TOOL-8': 'What a deny covers is never listed and answers policy_denied whether or not it exists.',

  'SEC-1':
    'A shell of the same user without the passphrase cannot approve, widen policy, add an agent or upstream, or unsuspend; all recorded.',
  'SEC-2': 'An agent with its token cannot reach an operator operation by any door.',
  'SEC-3': 'A forged or replayed decision is refused and recorded.',
  'SEC-4': 'kill -9 at any moment leaves no process and no corrupt state.',
} as const;
