// The policy of somebody who has not written one: look freely, ask before anything else.

export const starterPolicy = `# What your agents may do. Sallyport reads this file whenever it changes:
#   an edit that only takes away is in force at once;
#   an edit that permits more waits until you run: sallyport policies adopt
# Look it over with: sallyport policies check
# Ask it with:       sallyport policies explain <agent> <upstream>:call:<tool>
version: 1

limits:
  # No permission outlives this, whatever a rule or a person says.
  max_ttl: 1h
  # How often one agent may ask for something new.
  rate_limit: 30/m
  # What nothing and nobody can permit; beats every rule below. For example:
  # deny:
  #   - '*:call:delete_*'

agents:
  # A section is an agent's name, a pattern such as ci-*, or '*' for every agent without a section of its own.
  # Rules are read from the top; the first that covers a call decides. No rule means no.
  '*':
    default_ttl: 15m
    capabilities:
      # Tools whose accepted definition says that they only read.
      - match: '*:call:*'
        effect: allow
        annotations:
          readOnlyHint: true
      # Any other tool: a person decides each time.
      - match: '*:call:*'
        effect: ask
`;
