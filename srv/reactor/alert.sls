# `missing` is there for a rule with not_all: the tags that did not come. What an event says is written by `json`: the text that
# it is, and nothing else.
tell:
  runner.event.send:
    - args:
      - tag: site/alert
      - data:
          because: {{ tag | json }}
          minion: {{ data.get('id', '') | json }}
          count: {{ count }}
          missing: {{ missing | default([]) | json }}
