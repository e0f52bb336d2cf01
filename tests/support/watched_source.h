#pragma once
// WatchedSource: a source whose ticks a test is told of.
#include <functional>
#include <memory>

#include "weir/feed/source.h"

namespace weir::test {

/// As `below`; `on_tick` is called with the changes of each tick before they are handed out.
class WatchedSource final : public feed::Source {
 public:
  using OnTick = std::function<void(const std::vector<feed::TableChange>&)>;

  WatchedSource(std::unique_ptr<feed::Source> below, OnTick on_tick)
      : below_(std::move(below)), on_tick_(std::move(on_tick)) {}

  std::vector<std::string> TableNames() const override { return below_->TableNames(); }
  const feed::SourceTable* Find(std::string_view table) const override {
    return below_->Find(table);
  }
  std::optional<sys::Duration> tick_interval() const override { return below_->tick_interval(); }
  std::vector<feed::TableChange> NextTick(mem::BlockAllocator& blocks) override {
    auto changes = below_->NextTick(blocks);
    on_tick_(changes);
    return changes;
  }

 private:
  const std::unique_ptr<feed::Source> below_;
  const OnTick on_tick_;
};

}  // namespace weir::test
