// What becomes of secrets, and of what is made from them.

export const secrets = {
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

  'SECRET-1':
    'Adding, rotating and removing a secret needs an operator signature; one command with the value on standard input does it where nobody types.',
  'SECRET-2': 'What is signed and kept of a value is a commitment and a size class; another value than the signed one is refused.',
  'SECRET-3':
    'No value is in an error, a log, the record, a listing, a statement or a file in clear; carried bytes are zeroed after use.',
  'SECRET-4': 'The current value and, for a bounded time, the previous one of each reference are there for redaction.',
  'SECRET-5':
    'scopegate_vault_status lists names of references an agent could use: unbound ones and those of upstreams it may reach.',

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
} as const;
