# One line of a load balancer: pillar='{backend: web1, state: ready}', or drained.
{% set site = salt['grains.get']('site') %}

backend {{ pillar['backend'] }}:
  file.managed:
    - name: {{ site }}/lb/{{ pillar['backend'] }}
    - contents: server {{ pillar['backend'] }} {{ pillar['state'] }}
    - makedirs: True
