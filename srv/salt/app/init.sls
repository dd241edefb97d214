# One release of an application. `version` comes from who asks: pillar='{version: "2.0"}', an orchestration, a reactor.
{% set site = salt['grains.get']('site') %}
{% set version = salt['pillar.get']('version', '1.0') %}

release:
  file.managed:
    - name: {{ site }}/app/release
    - contents: "{{ version }}"
    - makedirs: True

# A release named broken-... installs, but does not start: what the examples of rollback need.
start:
  cmd.run:
    - name: echo '{{ 'down' if version.startswith('broken') else 'up' }}' > {{ site }}/app/health
    - onchanges:
      - file: release
