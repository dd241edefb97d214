# `missing` is there for a rule with not_all: the tags that did not come.
tell:
  runner.event.send:
    - args:
      - tag: site/alert
      - data:
          because: {{ tag }}
          minion: {{ data.get('id', '') | json }}
          count: {{ count }}
          missing: {{ missing | default([]) | json }}
